import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its parents, accessible only to the owner, and flushes them to disk. Does nothing if the folder exists.
 *
 * It creates them one by one, because Node's recursive `mkdir` never returns below `/proc`.
 */
export async function makeDurableFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeDurableFolder(parent);
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (await isFolder(path)) return; // another process created it first
    throw error;
  }
  await syncFolder(parent);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Flushes a folder's entries to disk, which an fsync of a file does not do. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows can't open folders; NTFS journals their entries
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
