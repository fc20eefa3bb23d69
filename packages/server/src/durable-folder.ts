import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Makes a folder, and those above it, for its owner alone; it is there after a crash. Nothing when it exists. */
export async function makeDurableFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  const firstMade = await mkdir(path, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  for (let made = path; made.length >= firstMade.length; made = dirname(made)) await syncFolder(dirname(made));
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
