import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobKey } from '../../domain/housekeeping/blob-key.ts';
import { type BlobStat, type BlobStore, type Clock, ReadOnlyError } from '../../domain/ports.ts';
import { makeDurableFolder, syncFolder } from '../../durable-folder.ts';
import { keyOfName } from '../object-name.ts';
import { isMissing, translateError } from './errors.ts';
import { type FileSystem, fileSystem } from './file-system.ts';
import { blobPath, shards } from './paths.ts';
import { readChunks } from './read.ts';
import { createReplacedFiles, writeDurably } from './write.ts';

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
 * Opens the blob store in a folder: `<folder>/<first two digits>/<SHA-256 in hexadecimal>[.<generation>]`, and `<folder>/tmp` for what is
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
    await removeAbandoned(files, temporaryFolder, clock() - abandonedAfterMs);
  } catch (thrown) {
    const error = translateError(thrown);
    if (!(error instanceof ReadOnlyError)) throw error; // a store that can be read alone
  }
  const replacedFiles = createReplacedFiles(files);

  return {
    async put(key, bytes) {
      const path = blobPath(key);
      if (path === undefined) throw new TypeError(`Cannot store bytes under "${key}": it is no key of a blob`);
      try {
        await writeDurably(files, replacedFiles, temporaryFolder, join(folder, path), bytes);
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
      return path !== undefined && (await unlinkIfThere(files, join(folder, path)));
    },
    async *list() {
      for (const shard of shards) {
        for (const name of await readdir(join(folder, shard))) {
          const key = keyOfName(name);
          if (key !== undefined && name.startsWith(shard)) yield key;
        }
      }
    },
    deleteUnfinished: (beforeMs) => removeAbandoned(files, temporaryFolder, beforeMs),
    async ping() {
      await readdir(temporaryFolder);
    },
    async pingWrite() {
      await writeProbe(files, temporaryFolder);
    },
    close: () => replacedFiles.close(),
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

async function find(folder: string, key: BlobKey): Promise<(BlobStat & { readonly path: string }) | undefined> {
  const name = blobPath(key);
  if (name === undefined) return undefined;
  const path = join(folder, name);
  const found = await statIfThere(path);
  if (found === undefined) return undefined;
  return { path, size: found.size, fingerprint: [found.ino, found.size, found.mtimeMs, found.ctimeMs].join() };
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
