import type { ProgressListener } from './select/config.ts';

/** Bytes of code between two reports. */
const progressBytes = 1_048_576;

/** Takes the size of each body, once after reading and once after writing it. */
export type Advance = (bodyBytes: number) => void;

/** Each byte of code counts half when read, and half when written. */
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
