import type { ProgressListener } from './select/config.ts';

/** After how many bytes of code the caller hears of it again. */
const progressBytes = 1_048_576;

/** Takes the size of each body that is done, once when it has been read and once when it has been written. */
export type Advance = (bodyBytes: number) => void;

/** A byte of code counts half when it has been read, and half when it has been written. */
export function createProgress(totalBytes: number, listener: ProgressListener | undefined): Advance {
  if (listener === undefined) return () => {};
  let processedBytes = 0;
  let reportAt = progressBytes;
  return (bodyBytes) => {
    processedBytes += bodyBytes;
    const doneBytes = Math.min(Math.floor(processedBytes / 2), totalBytes);
    if (doneBytes < reportAt) return;
    listener(doneBytes, totalBytes);
    reportAt = doneBytes + progressBytes;
  };
}
