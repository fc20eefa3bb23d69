import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileSystem } from './file-system.ts';

/** How many bytes one call writes. */
const writeBytes = 1024 * 1024;

/** After how long, in milliseconds, the blocks of a file that was replaced are freed. */
const releaseDelayMs = 1000;

/** Files that were replaced, whose blocks are freed soon. */
export interface ReplacedFiles {
  /** @param path a second link to the file */
  release(path: string): void;
  /** Frees all of them now. */
  close(): Promise<void>;
}

export function createReplacedFiles(files: FileSystem): ReplacedFiles {
  const waiting = new Map<string, NodeJS.Timeout>();
  const unlink = async (path: string): Promise<void> => {
    waiting.delete(path);
    await files.unlink(path).catch(() => {}); // what stays is removed as an abandoned temporary file
  };
  return {
    release(path) {
      waiting.set(path, setTimeout(() => void unlink(path), releaseDelayMs).unref());
    },
    async close() {
      for (const timer of waiting.values()) clearTimeout(timer);
      await Promise.all([...waiting.keys()].map(unlink));
    },
  };
}

/**
 * Writes a file so that it is there whole or not at all, whenever the machine stops: into a temporary file of the same file
 * system, fsync, rename, fsync of the folder. It survives every crash once this has resolved.
 *
 * A file that is there already is replaced by the same steps. To free its blocks takes longer the larger it is, which would tell the
 * caller that it was there, so a second link keeps them until the caller has its answer.
 *
 * @param temporaryFolder on the same file system as the file
 */
export async function writeDurably(
  files: FileSystem,
  replacedFiles: ReplacedFiles,
  temporaryFolder: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const temporary = join(temporaryFolder, randomUUID());
  const replaced = join(temporaryFolder, randomUUID());
  let isReplaced = false;
  const handle = await files.open(temporary, 'wx', 0o600);
  try {
    try {
      await writeAll(handle, bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Fails for a new file, and where the file system has no hard links: its blocks are then freed at once.
    isReplaced = await files.link(path, replaced).then(
      () => true,
      () => false,
    );
    await files.rename(temporary, path);
  } catch (error) {
    // What stays is removed when the store is next opened.
    await files.unlink(temporary).catch(() => {});
    if (isReplaced) await files.unlink(replaced).catch(() => {});
    throw error;
  }
  await files.syncFolder(dirname(path));
  if (isReplaced) replacedFiles.release(replaced);
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, at, Math.min(writeBytes, bytes.length - at), at);
    at += bytesWritten;
  }
}
