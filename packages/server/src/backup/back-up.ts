import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../domain/context.ts';
import { blobKey } from '../domain/housekeeping/blob-key.ts';
import { type Lease, takeLease } from '../domain/housekeeping/leases.ts';
import { ReadOnlyError, StorageFullError } from '../domain/ports.ts';
import { noteChore } from '../domain/status/chores.ts';
import { copyDatabase, type DatabaseCopy, DatabaseCopyError } from '../store/sqlite/database-copy.ts';
import { version } from '../version.ts';
import { BackupError } from './errors.ts';
import { archiveBytes, formatManifest, formatVersion, type Manifest } from './manifest.ts';
import { type Sink, writeArchive } from './write-archive.ts';

/** How long a backup that was killed keeps the collector from its work. Copying a large database takes a while in one go. */
const leaseMs = 60 * 60 * 1000;

/** After how long what a backup has begun to write is certain to be abandoned. */
const abandonedAfterMs = 24 * 60 * 60 * 1000;

/** What the names of files and folders begin with that a backup writes to, and removes at its end. Archives are written under such a name. */
export const unfinishedBackup = '.tenon-backup-';

/** The folders that `mkdtemp` makes, and the files of the command. */
const unfinishedPattern = /^\.tenon-backup-([0-9A-Za-z]{6}|[0-9a-f]{12}\.tmp)$/;

/** Told how far something is. */
export interface Progress {
  /** How many bytes there are, when that is known. */
  readonly total: (bytes: number) => void;
  /** How many more were done. */
  readonly advance: (bytes: number) => void;
}

export interface BackUpOptions {
  /** The data folder. A server may be at work on it. */
  readonly dataDir: string;
  /** Where the copy of the database lies until it is written: a folder with room for it. */
  readonly workFolder: string;
  readonly sink: Sink;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

/** What is in a backup. */
export interface BackupSummary {
  readonly createdAt: string;
  readonly schemaVersion: number;
  readonly databaseBytes: number;
  readonly blobs: number;
  readonly blobBytes: number;
  /** The size of the whole archive. */
  readonly archiveBytes: number;
}

type Parts = Pick<Context, 'store' | 'blobs' | 'clock' | 'random'>;

/**
 * Writes a backup of all data but `quickstart.env`: the database as it is at one moment, then the bytes that it names, each
 * hashed on its way. The server may go on; a lease keeps the collector from what the copy names.
 *
 * @throws BackupError `damaged_data`, and the errors of the file system and the sink
 */
export async function backUp(context: Parts, options: BackUpOptions): Promise<BackupSummary> {
  const lease = await takeBackupLease(context);
  await removeAbandoned(options.workFolder, context.clock());
  try {
    const folder = await mkdtemp(join(options.workFolder, unfinishedBackup));
    try {
      const summary = await writeBackup(context, options, lease, join(folder, 'tenon.db'));
      await noteChore(context, 'backup', { bytes: summary.archiveBytes });
      return summary;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } finally {
    await lease.release();
  }
}

/** Where no lease can be written, the garbage collector can't mark anything for deletion either. */
async function takeBackupLease(context: Parts): Promise<Lease> {
  try {
    const lease = await takeLease(context, 'backup', { lengthMs: leaseMs, isExclusive: false });
    if (lease === undefined) throw new Error('A lease that is not exclusive was refused');
    return lease;
  } catch (error) {
    if (!(error instanceof StorageFullError || error instanceof ReadOnlyError)) throw error;
    return { async renew() {}, async release() {} };
  }
}

/** Removes what backups that were killed have left where this one writes: copies of the database, and unfinished archives. */
async function removeAbandoned(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!unfinishedPattern.test(name)) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && nowMs - found.mtimeMs > abandonedAfterMs)
      await rm(path, { recursive: true, force: true });
  }
}

async function writeBackup(
  { store, blobs, clock }: Parts,
  { dataDir, sink, progress, signal }: BackUpOptions,
  lease: Lease,
  copy: string,
): Promise<BackupSummary> {
  const { schemaVersion, contents } = takeCopy(join(dataDir, 'tenon.db'), copy);
  const manifest: Manifest = {
    format: 'tenon-backup',
    formatVersion,
    tenonVersion: version,
    createdAt: new Date(clock()).toISOString(),
    schemaVersion,
    database: await measure(copy),
    blobs: contents.map(({ address, size }) => ({ address, size })),
  };
  progress?.total(archiveBytes(formatManifest(manifest).length, manifest));
  const written = await writeArchive(
    async (bytes) => {
      signal?.throwIfAborted();
      await sink(bytes);
      progress?.advance(bytes.length);
    },
    manifest,
    {
      database: () => createReadStream(copy),
      async blob({ address }) {
        await lease.renew();
        const row = await store.read.blob(address);
        return row && blobs.open(blobKey(row));
      },
    },
  );
  return {
    createdAt: manifest.createdAt,
    schemaVersion,
    databaseBytes: manifest.database.size,
    blobs: contents.length,
    blobBytes: contents.reduce((total, { size }) => total + size, 0),
    archiveBytes: written,
  };
}

function takeCopy(file: string, copy: string): DatabaseCopy {
  try {
    return copyDatabase(file, copy);
  } catch (error) {
    if (!(error instanceof DatabaseCopyError)) throw error;
    throw new BackupError('damaged_data', `Cannot back up: the database is not whole: ${error.message}.`, {
      cause: error,
    });
  }
}

async function measure(file: string): Promise<Manifest['database']> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}
