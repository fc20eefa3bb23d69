import { type InstrumentOptions, type InstrumentResult, instrument } from '@tenon/instrument';
import { checkWithEngine } from './engine-check.ts';
import type { Io } from './io.ts';
import { createProgress, type Progress, showStep } from './progress.ts';
import { refusing } from './tracing-options.ts';

/** A module that has been rewritten, and how long it took. */
export interface Rewritten {
  readonly result: InstrumentResult;
  readonly durationMs: number;
}

/**
 * Instruments a module and shows how far it is.
 *
 * @param isShown whether people read along
 * @throws CliError with the instrumenter's code
 */
export function rewrite(io: Io, isShown: boolean, bytes: Uint8Array, options: InstrumentOptions): Rewritten {
  let progress: Progress | undefined;
  let shownBytes = 0;
  const onProgress = (doneBytes: number, totalBytes: number): void => {
    progress ??= createProgress(io, isShown, 'Instrumenting', totalBytes);
    progress.advance(doneBytes - shownBytes);
    shownBytes = doneBytes;
  };
  const startedMs = io.nowMs();
  try {
    const result = refusing(() => instrument(bytes, { ...options, onProgress }));
    return { result, durationMs: io.nowMs() - startedMs };
  } finally {
    progress?.end();
  }
}

/** The engine validates about 100 MB per second, so smaller modules show no progress. */
const slowCheckBytes = 64 * 1_048_576;

/** Has this engine validate what was made of a module, and says so when that takes long. Throws as {@link checkWithEngine} does. */
export function checkRewritten(io: Io, isShown: boolean, input: Uint8Array, output: Uint8Array): void {
  const end = showStep(io, isShown && input.length >= slowCheckBytes, 'Having the engine validate the result …');
  try {
    checkWithEngine(input, output);
  } finally {
    end();
  }
}
