import { randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../db/durable-folder.ts';
import { ReadOnlyError, StorageFullError } from '../../db/store.ts';

/** The file system calls that write blobs. Tests replace them to inject failures. */
export const fileSystem = { open, link, rename, unlink, syncFolder };

export type FileSystem = Readonly<typeof fileSystem>;

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

/** The maximum size of a chunk. */
const chunkBytes = 256 * 1024;

/**
 * Reads a byte range of a file, chunk by chunk. The generator opens the file when the consumer requests the first chunk, and closes it
 * after the last chunk or when the consumer stops.
 *
 * @param first offset of the first byte
 * @param end offset after the last byte
 * @param scratch a buffer to reuse for all chunks; without it, each chunk has a new buffer
 */
export async function* readChunks(
  path: string,
  first: number,
  end: number,
  scratch?: Uint8Array,
): AsyncGenerator<Uint8Array, void> {
  if (first >= end) return;
  const handle = await open(path, 'r');
  try {
    for (let offset = first; offset < end; ) {
      const length = Math.min(scratch?.length ?? chunkBytes, end - offset);
      const { buffer, bytesRead } = await handle.read(scratch ?? Buffer.allocUnsafe(length), 0, length, offset);
      if (bytesRead === 0) {
        throw new Error(`Cannot read the blob at ${path}: the file ends at byte ${offset}, expected at least ${end}`);
      }
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** The maximum number of bytes per write call. */
const writeBytes = 1024 * 1024;

const unlinkDelayMs = 1000;

/** Deletes files after a short delay. */
type DelayedUnlinks = ReturnType<typeof createDelayedUnlinks>;

export function createDelayedUnlinks(files: FileSystem) {
  const timers = new Map<string, NodeJS.Timeout>();
  const unlink = async (path: string): Promise<void> => {
    timers.delete(path);
    await files.unlink(path).catch(() => {}); // deleted later, as an abandoned temporary file
  };
  return {
    add(path: string): void {
      timers.set(path, setTimeout(() => void unlink(path), unlinkDelayMs).unref());
    },
    /** Deletes all pending files now. */
    async close(): Promise<void> {
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all([...timers.keys()].map(unlink));
    },
  };
}

/**
 * Writes a file atomically and durably: to a temporary file, then fsync, rename, and fsync of the folder. Once the promise resolves, the
 * file survives a crash.
 *
 * An existing file is replaced by the same steps. The time to free its blocks depends on its size, so a client could measure whether the
 * file existed. A second link therefore keeps the blocks allocated until after the response.
 *
 * @param temporaryFolder a folder on the same file system
 */
export async function writeDurably(
  files: FileSystem,
  delayedUnlinks: DelayedUnlinks,
  temporaryFolder: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const temporary = join(temporaryFolder, randomUUID());
  const replaced = join(temporaryFolder, randomUUID());
  let hasSecondLink = false;
  const handle = await files.open(temporary, 'wx', 0o600);
  try {
    try {
      await writeAll(handle, bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Fails for a new file, and on file systems without hard links.
    hasSecondLink = await files.link(path, replaced).then(
      () => true,
      () => false,
    );
    await files.rename(temporary, path);
  } catch (error) {
    // If these fail too, the files are deleted when the store is next opened.
    await files.unlink(temporary).catch(() => {});
    if (hasSecondLink) await files.unlink(replaced).catch(() => {});
    throw error;
  }
  await files.syncFolder(dirname(path));
  if (hasSecondLink) delayedUnlinks.add(replaced);
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const length = Math.min(writeBytes, bytes.length - offset);
    const { bytesWritten } = await handle.write(bytes, offset, length, offset);
    offset += bytesWritten;
  }
}
