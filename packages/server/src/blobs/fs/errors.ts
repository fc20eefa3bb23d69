import { ReadOnlyError, StorageFullError } from '../../domain/ports.ts';

/** Whether a file system call failed because the file doesn't exist. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** Converts a file system error to the matching error of the port, if there is one. Returns other errors unchanged. */
export function translateError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'EROFS') {
    return new ReadOnlyError('Cannot store the bytes: the file system is read-only', { cause: error });
  }
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new StorageFullError(`Cannot store the bytes: the file system is full (${code})`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
