import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobKey } from '../../db/blob-key.ts';
import { makeDurableFolder, syncFolder } from '../../db/durable-folder.ts';
import { type Clock, ReadOnlyError } from '../../db/store.ts';
import type { BlobStat, BlobStore } from '../blob-store.ts';
import { keyOfName } from '../object-name.ts';
import {
  createDelayedUnlinks,
  type FileSystem,
  fileSystem,
  isMissing,
  readChunks,
  translateError,
  writeDurably,
} from './file-system.ts';
import { blobPath, shards } from './paths.ts';

/** Temporary files older than this were left by a crash. */
const abandonedAfterMs = 60 * 60 * 1000;

interface FolderBlobStoreOptions {
  /** Created with its parents, readable only by its owner, if it doesn't exist. */
  readonly folder: string;
  /** For the age of temporary files. Default: `Date.now`. */
  readonly clock?: Clock;
  /** Default: `node:fs/promises`. */
  readonly files?: FileSystem;
}

/**
 * Opens a blob store in a folder. Blobs are at `<folder>/<first two digits>/<SHA-256 in hexadecimal>[.<generation>]`; unfinished writes are
 * in `<folder>/tmp`. Several processes may open the same folder.
 *
 * @throws StorageFullError when the disk is full
 */
export async function openFolderBlobStore({
  folder,
  clock = Date.now,
  files = fileSystem,
}: FolderBlobStoreOptions): Promise<BlobStore> {
  const temporaryFolder = join(folder, 'tmp');
  try {
    await makeFolders(folder);
    await deleteOldFiles(files, temporaryFolder, clock() - abandonedAfterMs);
  } catch (thrown) {
    const error = translateError(thrown);
    if (!(error instanceof ReadOnlyError)) throw error; // a read-only store still serves reads
  }
  const delayedUnlinks = createDelayedUnlinks(files);

  return {
    async put(key, bytes) {
      const path = blobPath(key);
      if (path === undefined) throw new TypeError(`Cannot store bytes under "${key}": not a valid blob key`);
      try {
        await writeDurably(files, delayedUnlinks, temporaryFolder, join(folder, path), bytes);
      } catch (error) {
        throw translateError(error);
      }
    },
    async size(key) {
      return (await find(folder, key))?.size;
    },
    async stat(key) {
      const blob = await find(folder, key);
      return blob && { size: blob.size, fingerprint: blob.fingerprint };
    },
    async open(key, range, _signal, scratch) {
      const blob = await find(folder, key);
      if (blob === undefined) return undefined;
      const { first, last } = range ?? { first: 0, last: blob.size - 1 };
      if (first < 0 || last >= blob.size) {
        throw new RangeError(`Cannot read bytes ${first} to ${last} of a blob of ${blob.size} bytes`);
      }
      return readChunks(blob.path, first, last + 1, scratch);
    },
    async delete(key) {
      const path = blobPath(key);
      return path !== undefined && (await unlinkIfExists(files, join(folder, path)));
    },
    async *list() {
      for (const shard of shards) {
        for (const name of await readdir(join(folder, shard))) {
          const key = keyOfName(name);
          if (key !== undefined && name.startsWith(shard)) yield key;
        }
      }
    },
    deleteUnfinished: (beforeMs) => deleteOldFiles(files, temporaryFolder, beforeMs),
    async ping() {
      await readdir(temporaryFolder);
    },
    async pingWrite() {
      await writeProbe(files, temporaryFolder);
    },
    close: () => delayedUnlinks.close(),
  };
}

/** Creates all folders and flushes them to disk, so that writing a blob needs an fsync of its own folder only. */
async function makeFolders(folder: string): Promise<void> {
  await makeDurableFolder(folder);
  const existing = new Set(await readdir(folder));
  for (const name of ['tmp', ...shards]) {
    if (!existing.has(name)) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  }
  await syncFolder(folder);
}

/** Deletes temporary files last modified before `beforeMs`. @returns their number */
async function deleteOldFiles(files: FileSystem, temporaryFolder: string, beforeMs: number): Promise<number> {
  let deleted = 0;
  for (const name of await readdir(temporaryFolder)) {
    const path = join(temporaryFolder, name);
    const stats = await statIfExists(path);
    if (stats === undefined || stats.mtimeMs >= beforeMs) continue;
    if (await unlinkIfExists(files, path)) deleted++;
  }
  return deleted;
}

/** @returns whether the file existed */
async function unlinkIfExists(files: FileSystem, path: string): Promise<boolean> {
  try {
    await files.unlink(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false; // another process deleted it first
    throw error;
  }
}

async function find(folder: string, key: BlobKey): Promise<(BlobStat & { readonly path: string }) | undefined> {
  const name = blobPath(key);
  if (name === undefined) return undefined;
  const path = join(folder, name);
  const stats = await statIfExists(path);
  if (stats === undefined) return undefined;
  return { path, size: stats.size, fingerprint: [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join() };
}

async function statIfExists(path: string) {
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
