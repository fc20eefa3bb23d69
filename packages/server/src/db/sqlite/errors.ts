import { setTimeout as sleep } from 'node:timers/promises';
import { ConflictError, ReadOnlyError, StorageFullError, UnavailableError } from '../store.ts';

/** Result codes, from https://www.sqlite.org/rescode.html. The low byte of an extended code is its primary code. */
const resultCode = {
  busy: 5,
  ioError: 10,
  full: 13,
  canNotOpen: 14,
  constraintPrimaryKey: 1555,
  constraintUnique: 2067,
  /** The file of the shared memory could not be made larger. */
  ioErrorShmSize: 4874,
} as const;

/** The result code of an error that `node:sqlite` threw. */
function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Whether another connection holds the lock that was needed, so that the same may work a moment later. */
export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code !== undefined && (code & 0xff) === resultCode.busy;
}

/** Whether the files beside a database are not there and could not be made. */
export function isWithoutLogFiles(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === resultCode.canNotOpen || code === resultCode.ioErrorShmSize;
}

/** Whether the operating system refused to read or write: https://www.sqlite.org/rescode.html#ioerr */
export function isIoError(error: unknown): boolean {
  return ((resultCodeOf(error) ?? 0) & 0xff) === resultCode.ioError;
}

/** The port's error for a database whose file system takes no changes. */
export function readOnlyError(cause: unknown): ReadOnlyError {
  return new ReadOnlyError('Cannot write to the database: its file system is read-only', { cause });
}

/** The port's error for what `node:sqlite` threw, where it has one; else the error itself. */
export function translateError(error: unknown): unknown {
  const code = resultCodeOf(error);
  const message = error instanceof Error ? error.message : '';
  switch (code) {
    case undefined:
      return error;
    case resultCode.constraintPrimaryKey:
    case resultCode.constraintUnique:
      return new ConflictError(`Cannot store what is there already: ${message}`, { cause: error });
    case resultCode.full:
    case resultCode.ioErrorShmSize:
      return new StorageFullError(`Cannot write to the database: ${message}`, { cause: error });
    default:
      if (!isBusy(error)) return error;
      return new UnavailableError(`Cannot get to the database: ${message}`, { cause: error });
  }
}

/** The longest pause between two attempts. Commits take about as long, so a waiting process soon meets a gap. */
const maxPauseMs = 10;

/**
 * Runs something synchronous on the database until no other process is in its way. SQLite's own waiting would block the
 * thread, and all requests with it; this lets them go on.
 *
 * @param waitMs how long to go on trying
 * @throws UnavailableError when the database stays busy, ConflictError and StorageFullError as SQLite tells them
 */
export async function whenFree<T>(run: () => T, waitMs: number): Promise<T> {
  const endMs = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return run();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endMs) throw translateError(error);
    }
    await sleep(Math.min(1 + attempt / 8, maxPauseMs));
  }
}
