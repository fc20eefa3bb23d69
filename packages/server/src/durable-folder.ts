import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder, and those above it, for its owner alone; it is there after a crash. Nothing when it exists.
 *
 * One by one: Node's recursive `mkdir` never ends where a folder that is there takes none, as below `/proc`.
 */
export async function makeDurableFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeDurableFolder(parent);
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (await isFolder(path)) return; // another process was faster
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

/** Has the names in a folder reach the disk: fsync of a file says nothing about them. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // folders can't be opened there; NTFS keeps names in its journal
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
