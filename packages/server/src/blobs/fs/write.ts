import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileSystem } from './file-system.ts';

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
