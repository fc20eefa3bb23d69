import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileSystem } from './file-system.ts';

/** How many bytes one call writes. */
const writeBytes = 1024 * 1024;

/**
 * Writes a file so that it is there whole or not at all, whenever the machine stops: into a temporary file of the same file
 * system, fsync, rename, fsync of the folder. It survives every crash once this has resolved.
 *
 * @param temporaryFolder on the same file system as the file
 */
export async function writeDurably(
  files: FileSystem,
  temporaryFolder: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const temporary = join(temporaryFolder, randomUUID());
  const handle = await files.open(temporary, 'wx', 0o600);
  try {
    try {
      await writeAll(handle, bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await files.rename(temporary, path);
  } catch (error) {
    await files.unlink(temporary).catch(() => {}); // what stays is removed when the store is next opened
    throw error;
  }
  await files.syncFolder(dirname(path));
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, at, Math.min(writeBytes, bytes.length - at), at);
    at += bytesWritten;
  }
}
