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
  /** The shared-memory file could not grow. */
  ioErrorShmSize: 4874,
} as const;

function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** Whether another connection holds the required lock. A retry may succeed. */
export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code !== undefined && (code & 0xff) === resultCode.busy;
}

/** Whether the `-wal` and `-shm` files of a database don't exist and can't be created. */
export function isWithoutLogFiles(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === resultCode.canNotOpen || code === resultCode.ioErrorShmSize;
}

/** Whether a read or write failed in the operating system: https://www.sqlite.org/rescode.html#ioerr */
export function isIoError(error: unknown): boolean {
  return ((resultCodeOf(error) ?? 0) & 0xff) === resultCode.ioError;
}

export function readOnlyError(cause: unknown): ReadOnlyError {
  return new ReadOnlyError('Cannot write to the database: its file system is read-only', { cause });
}

/** Converts an error of `node:sqlite` to the matching error of the store, if there is one. Returns other errors unchanged. */
export function translateError(error: unknown): unknown {
  const code = resultCodeOf(error);
  const message = error instanceof Error ? error.message : '';
  switch (code) {
    case undefined:
      return error;
    case resultCode.constraintPrimaryKey:
    case resultCode.constraintUnique:
      return new ConflictError(`Not unique: ${message}`, { cause: error });
    case resultCode.full:
    case resultCode.ioErrorShmSize:
      return new StorageFullError(`Cannot write to the database: ${message}`, { cause: error });
    default:
      if (!isBusy(error)) return error;
      return new UnavailableError(`Cannot reach the database: ${message}`, { cause: error });
  }
}

/** The longest pause between two attempts, in milliseconds: about as long as a commit. */
const maxPauseMs = 10;

/**
 * Retries a synchronous database call while the database is busy. SQLite's own busy timeout would block the thread.
 *
 * @throws UnavailableError if the database is busy for `waitMs`; ConflictError; StorageFullError
 */
export async function retryWhileBusy<T>(run: () => T, waitMs: number): Promise<T> {
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
