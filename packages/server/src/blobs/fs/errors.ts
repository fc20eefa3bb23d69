import { ReadOnlyError, StorageFullError } from '../../domain/ports.ts';

/** Whether a call to the file system failed because nothing has that name. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** The port's error for what the file system threw, where it has one; else the error itself. */
export function translateError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'EROFS') {
    return new ReadOnlyError('Cannot store the bytes: the file system is read-only', { cause: error });
  }
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new StorageFullError(`Cannot store the bytes: the file system has no room (${code})`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
