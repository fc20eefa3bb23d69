import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { StorageFullError } from '../store.ts';

/** The most that one checkpoint adds to the database, in bytes: 1,000 pages (https://www.sqlite.org/wal.html#ckpt). */
export const reserveBytes = 4 * 1024 * 1024;

const chunkBytes = 1024 * 1024;

/** A file that reserves disk space for deletions on a full disk. All processes on the database share it. */
export type Reserve = ReturnType<typeof createReserve>;

/** @param bytes the size of the file; 0 reserves nothing */
export function createReserve(file: string, bytes: number) {
  if (bytes === 0) return { fill() {}, release() {} };
  const path = `${file}-reserve`;
  return {
    /** Grows the file to its full size. @throws StorageFullError if the disk is full; the file then has all of the free space */
    fill(): void {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      if (size >= bytes) return;
      try {
        append(path, bytes - size);
      } catch (cause) {
        throw new StorageFullError('Cannot write to the database: the rest of the disk is reserved for deletions', {
          cause,
        });
      }
    },
    /** Deletes the file, so that the database can use its space. */
    release(): void {
      rmSync(path, { force: true });
    },
  };
}

/** Appends random bytes, which a file system can't compress. */
function append(path: string, bytes: number): void {
  const chunk = randomBytes(Math.min(bytes, chunkBytes));
  const descriptor = openSync(path, 'a', 0o600);
  try {
    for (let left = bytes; left > 0; ) left -= writeSync(descriptor, chunk, 0, Math.min(left, chunk.length));
  } finally {
    closeSync(descriptor);
  }
}
