import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openFolderBlobStore } from '../blobs/fs/folder-blob-store.ts';
import { blobPath } from '../blobs/fs/paths.ts';
import { makeDurableFolder, syncFolder } from '../durable-folder.ts';
import { NewerSchemaError } from '../store/kysely/migrate.ts';
import { DatabaseCopyError, inspectCopy, isInUse } from '../store/sqlite/database-copy.ts';
import type { Progress } from './back-up.ts';
import { BackupError } from './errors.ts';
import { archiveBytes, damaged, formatManifest, type Manifest } from './manifest.ts';
import { readArchive } from './read-archive.ts';

export interface RestoreOptions {
  readonly source: AsyncIterable<Uint8Array>;
  /** How many bytes the source has, where that is known. */
  readonly sourceBytes?: number | undefined;
  /** The data folder to be. It is made when it isn't there. */
  readonly dataDir: string;
  /** Whether what is in the folder may be moved aside, into a folder in it. Default: `false`. */
  readonly force?: boolean;
  readonly nowMs: number;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

/** What was restored. */
export interface RestoreSummary {
  /** When the backup was made, and by which version. */
  readonly createdAt: string;
  readonly tenonVersion: string;
  readonly databaseBytes: number;
  readonly blobs: number;
  readonly blobBytes: number;
  /** Where what was in the folder before lies now. */
  readonly replacedFolder: string | undefined;
}

/** What a restore that was killed leaves in the folder. */
const stagingPattern = /^restore-[0-9a-f]{16}\.tmp$/;

/** What is no data of anybody's: remains, kept room, and what some file systems have at their root. */
const isNothing = (name: string): boolean =>
  stagingPattern.test(name) || name === 'tenon.db-reserve' || name === 'lost+found';

/**
 * Puts a backup in the place of a data folder. It is unpacked beside that place and looked through as a whole first: until all
 * of it is known to be right, nothing is in the folder that a server would take for data.
 *
 * @throws BackupError for a backup that can't be used or a folder that is in use, and the file system's errors; the folder is as
 *   it was then
 */
export async function restore(options: RestoreOptions): Promise<RestoreSummary> {
  const { dataDir } = options;
  await makeDurableFolder(dataDir);
  const present = await demandPlace(options);
  const staging = join(dataDir, `restore-${randomBytes(8).toString('hex')}.tmp`);
  await mkdir(staging, { mode: 0o700 });
  try {
    const manifest = await unpack(options, staging);
    await demandDatabase(join(staging, 'tenon.db'), manifest);
    options.signal?.throwIfAborted();
    const replacedFolder = await putInPlace(options, staging, present);
    return {
      createdAt: manifest.createdAt,
      tenonVersion: manifest.tenonVersion,
      databaseBytes: manifest.database.size,
      blobs: manifest.blobs.length,
      blobBytes: manifest.blobs.reduce((total, { size }) => total + size, 0),
      replacedFolder,
    };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** @returns what is in the folder and would have to go */
async function demandPlace({ dataDir, force = false }: RestoreOptions): Promise<string[]> {
  const names = await readdir(dataDir);
  const present = names.filter((name) => !isNothing(name));
  if (present.length > 0 && !force) {
    throw new BackupError('not_empty', `Cannot restore into ${dataDir}: it is not empty.`);
  }
  if (present.includes('tenon.db') && isInUse(join(dataDir, 'tenon.db'))) {
    throw new BackupError('in_use', `Cannot restore into ${dataDir}: a server, or another program, is using it.`);
  }
  for (const name of names.filter((name) => stagingPattern.test(name))) {
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
  return present;
}

/** Writes what is in the backup into a folder, for its owner alone, and has all of it reach the disk. */
async function unpack({ source, sourceBytes, progress, signal }: RestoreOptions, staging: string): Promise<Manifest> {
  const folder = join(staging, 'blobs');
  await (await openFolderBlobStore({ folder })).close();
  const written = new Set<string>();
  const counted = async function* () {
    for await (const chunk of source) {
      signal?.throwIfAborted();
      yield chunk;
      progress?.advance(chunk.length);
    }
  };
  const manifest = await readArchive(
    counted(),
    {
      async begin(manifest) {
        progress?.total(archiveBytes(formatManifest(manifest).length, manifest));
      },
      database: (chunks) => writeNew(join(staging, 'tenon.db'), chunks),
      async blob({ address }, chunks) {
        const path = blobPath(address);
        if (path === undefined) throw damaged(`${address} is no content address`);
        await writeNew(join(folder, path), chunks);
        written.add(dirname(join(folder, path)));
      },
    },
    sourceBytes,
  );
  for (const shard of written) await syncFolder(shard);
  return manifest;
}

async function writeNew(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The database is what the manifest says, and names exactly the contents that came with it. */
async function demandDatabase(file: string, { schemaVersion, blobs }: Manifest): Promise<void> {
  const found = await inspectCopy(file).catch((error: unknown) => {
    if (error instanceof NewerSchemaError) throw new BackupError('newer_backup', error.message, { cause: error });
    if (error instanceof DatabaseCopyError) throw damaged(`its database is not whole: ${error.message}`, error);
    throw error;
  });
  if (found.schemaVersion !== schemaVersion) throw damaged('its database is of another version than the manifest says');
  const named = JSON.stringify(found.contents.map(({ address, size }) => [address, size]));
  if (named !== JSON.stringify(blobs.map(({ address, size }) => [address, size]))) {
    throw damaged('its database names other contents than came with it');
  }
}

/**
 * Moves what was unpacked to where a server looks for it, and what was there before aside. The database comes last: a folder
 * without one is empty to a server.
 */
async function putInPlace(
  { dataDir, nowMs }: RestoreOptions,
  staging: string,
  present: readonly string[],
): Promise<string | undefined> {
  const moved = present.filter((name) => !name.startsWith('replaced-'));
  const replaced = moved.length === 0 ? undefined : join(dataDir, `replaced-${stampOf(nowMs)}`);
  if (replaced !== undefined) {
    await mkdir(replaced, { mode: 0o700 });
    // The database with its log goes first, for the same reason.
    moved.sort((a, b) => Number(b.startsWith('tenon.db')) - Number(a.startsWith('tenon.db')));
    for (const name of moved) await rename(join(dataDir, name), join(replaced, name));
    await syncFolder(replaced);
  }
  await rename(join(staging, 'blobs'), join(dataDir, 'blobs'));
  await syncFolder(dataDir);
  await rename(join(staging, 'tenon.db'), join(dataDir, 'tenon.db'));
  await syncFolder(dataDir);
  await syncFolder(dirname(dataDir));
  return replaced;
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replace(/[:.]/g, '-');
}
