import { createHash } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { type Lease, takeLease } from '../../blobs/leases.ts';
import { verify } from '../../blobs/verify.ts';
import type { Db } from '../../db/db.ts';
import { NewerSchemaError } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/all.ts';
import type { Database } from '../../db/records.ts';
import { type Clock, type RandomBytes, ReadOnlyError, StorageFullError, UnavailableError } from '../../db/store.ts';
import { closeStores, openStores, type StoreSettings, type Stores } from '../../open-stores.ts';
import { copyBlobs, replaceBlobRows } from './blobs.ts';
import { readSnapshot, writeDatabase } from './databases.ts';
import { CopyError } from './errors.ts';
import { assertTable, type Digests, hasRows, insertRows, readRows } from './rows.ts';
import { type CopiedTable, readCopiedTables } from './tables.ts';

export const copySteps = ['claim', 'copy_rows', 'copy_blobs', 'verify', 'finish'] as const;

export type CopyStep = (typeof copySteps)[number];

export interface CopyOptions {
  /** The store to copy. Servers may use it. */
  readonly from: StoreSettings;
  /** An empty store that no server uses, or one that holds an unfinished copy of the source. */
  readonly to: StoreSettings;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly onStep?: (step: CopyStep) => void | Promise<void>;
  /** Called with the size of all contents before they are copied, and before they are verified; then with what was done of it. */
  readonly onProgress?: { readonly total: (bytes: number) => void; readonly advance: (bytes: number) => void };
  readonly signal?: AbortSignal;
}

export interface CopiedStore {
  readonly rows: Readonly<Record<string, number>>;
  readonly contents: number;
  readonly bytes: number;
}

/** How long a copy that was killed keeps the garbage collector from deleting what it was to copy. */
const leaseMs = 60 * 60_000;

/** What may be in a data folder without any data. */
const emptyFolderNames = new Set([
  'tenon.db',
  'tenon.db-wal',
  'tenon.db-shm',
  'tenon.db-reserve',
  'blobs',
  'lost+found',
]);

/**
 * Copies all data of a store, as it is at one moment, into an empty one. Servers may go on to use the source: a lease keeps the garbage
 * collector from deleting what is to be copied.
 *
 * The target is marked as unfinished from the first row until everything in it was read back and verified, and no server opens it
 * until then. After a failure or a kill, the same call continues: rows are replaced, and contents that were copied are kept.
 *
 * @throws CopyError, NewerSchemaError, UnavailableError, StorageFullError, and the signal's reason
 */
export async function copyStore(options: CopyOptions): Promise<CopiedStore> {
  const { from, to } = options;
  const [sourcePlaces, targetPlaces] = await Promise.all([placesOf(from), placesOf(to)]);
  if (sourcePlaces.metadata === targetPlaces.metadata || sourcePlaces.blobs === targetPlaces.blobs) {
    throw new CopyError('same_store', 'The source and the target have the same database, folder or bucket.');
  }
  const tables = await readCopiedTables();
  await assertReadable(from, tables);
  await assertFolderEmpty(to);
  const source = await openStores(from);
  try {
    const target = await openStores(to);
    try {
      const run = Buffer.from(options.random(12)).toString('base64url');
      const mark = `${sourcePlaces.metadata}.${sourcePlaces.blobs} ${run}`;
      return await writeDatabase(to, (db) => copyInto({ ...options, tables, source, target, db, mark }));
    } finally {
      await closeStores(target);
    }
  } finally {
    await closeStores(source);
  }
}

interface Copy extends CopyOptions {
  readonly tables: readonly CopiedTable[];
  readonly source: Stores;
  readonly target: Stores;
  readonly db: Kysely<Database>;
  /** The holder of the target's mark: the source's places, a space, and a text that no other run has. */
  readonly mark: string;
}

async function copyInto(copy: Copy): Promise<CopiedStore> {
  const { tables, db, source, target, onStep = () => {}, onProgress, signal } = copy;
  const onBatch = (): void => signal?.throwIfAborted();
  await onStep('claim');
  await claim(copy);
  const [damage] = await source.store.check();
  if (damage !== undefined) {
    throw new CopyError('damaged_data', `The source is damaged: ${damage.subject}: ${damage.detail}.`);
  }
  const lease = await takeCopyLease(copy);
  let digests: Digests;
  try {
    await onStep('copy_rows');
    digests = await copyRows(copy, lease);
    await onStep('copy_blobs');
    onProgress?.total(await contentBytes(db));
    await copyBlobs({
      ...copy,
      source: source.blobs,
      async onContent(bytes) {
        signal?.throwIfAborted();
        await lease.renew();
        onProgress?.advance(bytes);
      },
    });
  } finally {
    await lease.release();
  }
  await onStep('verify');
  const arrived = await readRows(db, tables, onBatch);
  for (const [table, { sha256 }] of digests) {
    if (arrived.get(table)?.sha256 !== sha256) throw differs(`the rows of ${table} are not those of the source`);
  }
  const { blobs, blobBytes, faults, unknownObjects } = await verify(target, copy);
  const [fault] = [...faults, ...unknownObjects];
  if (fault !== undefined) throw differs(`${fault.subject}: ${fault.detail}`);
  await onStep('finish');
  await db.transaction().execute(async (tx) => {
    await assertClaimed(tx, copy.mark);
    await tx.deleteFrom('leases').execute();
  });
  return {
    rows: Object.fromEntries([...digests].map(([table, { rows }]) => [table, rows])),
    contents: blobs,
    bytes: blobBytes,
  };
}

/** Refuses a source that has no store, or an unfinished one, or one of another schema. Changes nothing. */
async function assertReadable(from: StoreSettings, tables: readonly CopiedTable[]): Promise<void> {
  await readSnapshot(from, async (db) => {
    const { rows } = await sql<{ version: number }>`select max(version) as version from schema_versions`.execute(db);
    const version = rows[0]?.version ?? 0;
    if (version > migrations.length) throw new NewerSchemaError(version, migrations.length);
    if (version < migrations.length) {
      throw new CopyError(
        'older_source',
        `The source has the schema ${version} of an older release, and this release has ${migrations.length}.`,
      );
    }
    if ((await markOf(db)) !== undefined) throw new CopyError('unfinished_copy', 'The source is an unfinished copy.');
    for (const table of tables) await assertTable(db, table);
  }).catch((error: unknown) => {
    if (error instanceof CopyError || error instanceof NewerSchemaError || error instanceof UnavailableError)
      throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CopyError('no_source', `There is no store that can be read at the source (${reason}).`, { cause: error });
  });
}

async function assertFolderEmpty({ dataDir, databaseUrl }: StoreSettings): Promise<void> {
  if (databaseUrl !== undefined) return;
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found = names.find((name) => !emptyFolderNames.has(name));
  if (found !== undefined) throw notEmpty(`${dataDir} has "${found}" in it`);
}

/** Marks the target as an unfinished copy of the source, if it is empty or has been one. */
async function claim({ tables, db, target, mark }: Copy): Promise<void> {
  const isBegun = (await markOf(db)) !== undefined;
  if (!isBegun) for await (const _ of target.blobs.list()) throw notEmpty('it has contents of plugins');
  await db
    .transaction()
    .setIsolationLevel('serializable')
    .execute(async (tx) => {
      const found = await markOf(tx);
      if (found === undefined) {
        for (const { name } of tables) if (await hasRows(tx, name)) throw notEmpty(`its table ${name} has rows`);
      } else if (found.split(' ')[0] !== mark.split(' ')[0]) {
        throw notEmpty('it has an unfinished copy of another store');
      }
      await tx.deleteFrom('leases').execute();
      await tx
        .insertInto('leases')
        .values({ kind: 'unfinished_copy', holder: mark, untilMs: Number.MAX_SAFE_INTEGER })
        .execute();
    });
}

async function assertClaimed(tx: Db, mark: string): Promise<void> {
  if ((await markOf(tx)) === mark) return;
  throw new CopyError('interrupted', 'Another copy into the target has begun.');
}

async function markOf(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom('leases').select('holder').where('kind', '=', 'unfinished_copy').executeTakeFirst();
  return row?.holder;
}

/** In one transaction: the target has either no rows, or all rows of one moment. */
async function copyRows({ tables, from, db, mark, signal }: Copy, lease: Lease): Promise<Digests> {
  return readSnapshot(from, (source) =>
    db.transaction().execute(async (tx) => {
      await assertClaimed(tx, mark);
      for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(tx);
      const digests = await readRows(source, tables, async (table, batch) => {
        signal?.throwIfAborted();
        await insertRows(tx, table, batch);
        await lease.renew();
      });
      await replaceBlobRows(source, tx);
      return digests;
    }),
  );
}

async function contentBytes(db: Db): Promise<number> {
  const { bytes } = await db
    .selectFrom('blobs')
    .select(({ fn }) => fn.sum<number | string | null>('size').as('bytes'))
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

/** Where no lease can be written, the garbage collector cannot mark anything for deletion either. */
async function takeCopyLease({ source, clock, random }: Copy): Promise<Lease> {
  try {
    const options = { lengthMs: leaseMs, isExclusive: false };
    const lease = await takeLease({ store: source.store, clock, random }, 'copy', options);
    if (lease === undefined) throw new Error('A lease that is not exclusive was refused');
    return lease;
  } catch (error) {
    if (!(error instanceof StorageFullError || error instanceof ReadOnlyError)) throw error;
    return { async renew() {}, async release() {} };
  }
}

function notEmpty(detail: string): CopyError {
  return new CopyError('not_empty', `The target is not empty: ${detail}.`);
}

function differs(detail: string): CopyError {
  return new CopyError('differs', `The target differs from the source: ${detail}.`);
}

/** Where a store's metadata and blobs are, as texts that are equal for equal places and reveal nothing. */
interface Places {
  readonly metadata: string;
  readonly blobs: string;
}

async function placesOf(settings: StoreSettings): Promise<Places> {
  const { databaseUrl, dataDir, s3Bucket, s3Endpoint = '', s3Prefix = '' } = settings;
  const folder = await realpath(dataDir).catch(() => dataDir);
  return {
    metadata: digest(databaseUrl === undefined ? ['folder', folder] : await postgresPlace(databaseUrl)),
    blobs: digest(s3Bucket === undefined ? ['folder', folder] : ['s3', s3Endpoint, s3Bucket, s3Prefix]),
  };
}

async function postgresPlace(url: string): Promise<string[]> {
  const { default: pg } = await import('pg');
  const { host, port, database } = new pg.Client(url); // not connected
  return ['postgres', host, String(port), database ?? ''];
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
