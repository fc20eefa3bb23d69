import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentAddress } from '@tenon/protocol';
import type { BlobStore, Clock } from '../../domain/ports.ts';
import { makeDurableFolder, syncFolder } from '../../durable-folder.ts';
import { addressOfName } from '../digest-name.ts';
import { isMissing, translateError } from './errors.ts';
import { type FileSystem, fileSystem } from './file-system.ts';
import { blobPath, shards } from './paths.ts';
import { readChunks } from './read.ts';
import { writeDurably } from './write.ts';

/** After how long a temporary file is certain to be one that a crash left. */
const abandonedAfterMs = 60 * 60 * 1000;

export interface FolderBlobStoreOptions {
  /** It is made when it isn't there, with the folders above it, for its owner alone. */
  readonly folder: string;
  /** Tells the age of temporary files. Default: `Date.now`. */
  readonly clock?: Clock;
  /** Default: `node:fs/promises`. */
  readonly files?: FileSystem;
}

/**
 * Opens the blob store in a folder: `<folder>/<first two digits>/<SHA-256 in hexadecimal>`, and `<folder>/tmp` for what is
 * being written. Any number of processes may have it open.
 *
 * @throws StorageFullError when there is no room for its folders
 */
export async function openFolderBlobStore({
  folder,
  clock = Date.now,
  files = fileSystem,
}: FolderBlobStoreOptions): Promise<BlobStore> {
  const temporaryFolder = join(folder, 'tmp');
  try {
    await makeFolders(folder);
  } catch (error) {
    throw translateError(error);
  }
  await removeAbandoned(files, temporaryFolder, clock() - abandonedAfterMs);

  return {
    async put(address, bytes) {
      const path = blobPath(address);
      if (path === undefined) throw new TypeError(`Cannot store bytes under "${address}": it is no content address`);
      try {
        await writeDurably(files, temporaryFolder, join(folder, path), bytes);
      } catch (error) {
        throw translateError(error);
      }
    },
    async size(address) {
      return (await find(folder, address))?.size;
    },
    async open(address, range, _signal, scratch) {
      const blob = await find(folder, address);
      if (blob === undefined) return undefined;
      const { first, last } = range ?? { first: 0, last: blob.size - 1 };
      if (first < 0 || last >= blob.size) {
        throw new RangeError(`Cannot read bytes ${first} to ${last} of a blob of ${blob.size} bytes`);
      }
      return readChunks(blob.path, first, last + 1, scratch);
    },
    async delete(address) {
      const path = blobPath(address);
      return path !== undefined && (await unlinkIfThere(files, join(folder, path)));
    },
    async *list() {
      for (const shard of shards) {
        for (const name of await readdir(join(folder, shard))) {
          const address = addressOfName(name);
          if (address !== undefined && name.startsWith(shard)) yield address;
        }
      }
    },
    deleteUnfinished: (beforeMs) => removeAbandoned(files, temporaryFolder, beforeMs),
    async ping() {
      await writeProbe(files, temporaryFolder);
    },
    async close() {},
  };
}

/** All folders are made here and reach the disk now, so that a blob needs only its own folder's fsync later. */
async function makeFolders(folder: string): Promise<void> {
  await makeDurableFolder(folder);
  const present = new Set(await readdir(folder));
  for (const name of ['tmp', ...shards]) {
    if (!present.has(name)) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  }
  await syncFolder(folder);
}

async function removeAbandoned(files: FileSystem, temporaryFolder: string, beforeMs: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(temporaryFolder)) {
    const path = join(temporaryFolder, name);
    if (((await statIfThere(path))?.mtimeMs ?? beforeMs) >= beforeMs) continue;
    if (await unlinkIfThere(files, path)) removed++;
  }
  return removed;
}

/** @returns whether it was there */
async function unlinkIfThere(files: FileSystem, path: string): Promise<boolean> {
  try {
    await files.unlink(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false; // another process was faster, or a crash came after
    throw error;
  }
}

async function find(folder: string, address: ContentAddress): Promise<{ path: string; size: number } | undefined> {
  const name = blobPath(address);
  if (name === undefined) return undefined;
  const path = join(folder, name);
  const found = await statIfThere(path);
  return found && { path, size: found.size };
}

async function statIfThere(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function writeProbe(files: FileSystem, temporaryFolder: string): Promise<void> {
  const path = join(temporaryFolder, `probe-${randomUUID()}`);
  try {
    const handle = await files.open(path, 'w', 0o600);
    try {
      await handle.write('.');
    } finally {
      await handle.close();
    }
    await files.unlink(path);
  } catch (error) {
    throw translateError(error);
  }
}
