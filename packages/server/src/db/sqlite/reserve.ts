import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { StorageFullError } from '../store.ts';

/**
 * What one checkpoint adds to the database at most, in bytes: 1,000 pages (https://www.sqlite.org/wal.html#ckpt). SQLite then writes
 * the log from its beginning again, into room that it has already.
 */
export const reserveBytes = 4 * 1024 * 1024;

const pieceBytes = 1024 * 1024;

/** A file beside the database that keeps room for what still has to work on a full disk. All processes on the database share it. */
export type Reserve = ReturnType<typeof createReserve>;

/** @param bytes the size of the file; 0 keeps no room */
export function createReserve(file: string, bytes: number) {
  if (bytes === 0) return { fill() {}, release() {} };
  const path = `${file}-reserve`;
  return {
    /** Makes the file as large as it has to be. @throws StorageFullError when there is no room for that; it then takes all there is */
    fill(): void {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (size >= bytes) return;
      try {
        append(path, bytes - size);
      } catch (cause) {
        throw new StorageFullError('Cannot write to the database: the room that is left is kept for deletions', {
          cause,
        });
      }
    },
    /** Gives its room to the database. */
    release(): void {
      rmSync(path, { force: true });
    },
  };
}

/** Appends random bytes, since a file system may compress others away. */
function append(path: string, bytes: number): void {
  const piece = randomBytes(Math.min(bytes, pieceBytes));
  const descriptor = openSync(path, 'a', 0o600);
  try {
    for (let left = bytes; left > 0; ) left -= writeSync(descriptor, piece, 0, Math.min(left, piece.length));
  } finally {
    closeSync(descriptor);
  }
}
