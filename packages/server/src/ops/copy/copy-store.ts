import { createHash } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { verifyAttestations } from '../../attestations/read-attestations.ts';
import { sealIfPossible } from '../../audit/seal.ts';
import { verifyAuditChain } from '../../audit/verify-chain.ts';
import { type Lease, takeLease } from '../../blobs/leases.ts';
import { verify } from '../../blobs/verify.ts';
import type { StoreFault } from '../../db/blob-records.ts';
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

export const copySteps = ['mark_target', 'copy_rows', 'copy_blobs', 'verify', 'finish'] as const;

export type CopyStep = (typeof copySteps)[number];

export interface CopyOptions {
  /** The store to copy. Servers may use it. */
  readonly from: StoreSettings;
  /** An empty store that no server uses, or an unfinished copy of the source. */
  readonly to: StoreSettings;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly onStep?: (step: CopyStep) => void | Promise<void>;
  /** `total` is called with the size of all contents before they are copied, and before they are verified; `advance` with the progress. */
  readonly onProgress?: { readonly total: (bytes: number) => void; readonly advance: (bytes: number) => void };
  readonly signal?: AbortSignal;
}

export interface CopiedStore {
  readonly rows: Readonly<Record<string, number>>;
  readonly contents: number;
  readonly bytes: number;
  /** Faults of the source's audit chain, which the copy has too. They don't keep the copy from being used. */
  readonly auditFaults: readonly StoreFault[];
}

/** How long the lease of a killed copy blocks the garbage collection of the source. */
const leaseMs = 60 * 60_000;

/** Names that a data folder without data may contain. */
const emptyFolderNames = new Set([
  'tenon.db',
  'tenon.db-wal',
  'tenon.db-shm',
  'tenon.db-reserve',
  'blobs',
  'lost+found',
]);

/**
 * Copies a consistent snapshot of a store into an empty one. Servers may use the source at the same time: a lease prevents garbage
 * collection of contents that are not copied yet.
 *
 * The target is marked as unfinished until all of its data was verified, and no server opens it before. After a failure or a kill, the
 * same call continues: it replaces the rows, and keeps the copied contents.
 *
 * @throws CopyError, NewerSchemaError, UnavailableError, StorageFullError, and the signal's reason
 */
export async function copyStore(options: CopyOptions): Promise<CopiedStore> {
  const { from, to } = options;
  const [sourceIds, targetIds] = await Promise.all([storeIds(from), storeIds(to)]);
  if (sourceIds.metadata === targetIds.metadata || sourceIds.blobs === targetIds.blobs) {
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
      const mark = `${sourceIds.metadata}.${sourceIds.blobs} ${run}`;
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
  /** Identifies this run in the target: the ids of the source, a space, and a random text. */
  readonly mark: string;
}

async function copyInto(copy: Copy): Promise<CopiedStore> {
  const { tables, db, source, target, onStep = () => {}, onProgress, signal } = copy;
  const onBatch = (): void => signal?.throwIfAborted();
  await onStep('mark_target');
  await markTarget(copy);
  const [damage] = await source.store.check();
  if (damage !== undefined) {
    throw new CopyError('damaged_data', `The source is damaged: ${damage.subject}: ${damage.detail}.`);
  }
  const lease = await takeCopyLease(copy);
  let digests: Digests;
  try {
    await sealIfPossible({ ...copy, store: source.store }, signal);
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
  const copied = await readRows(db, tables, onBatch);
  for (const [table, { sha256 }] of digests) {
    if (copied.get(table)?.sha256 !== sha256) throw differs(`the rows of ${table} are different`);
  }
  const { blobs, blobBytes, faults, unknownObjects } = await verify(target, copy);
  const chain = await verifyAuditChain({ ...copy, store: target.store }, signal === undefined ? {} : { signal });
  const attested = await verifyAttestations(target, signal);
  const [fault] = [...faults, ...unknownObjects, ...attested.faults];
  if (fault !== undefined) throw differs(`${fault.subject}: ${fault.detail}`);
  await onStep('finish');
  await db.transaction().execute(async (tx) => {
    await assertMarked(tx, copy.mark);
    await tx.deleteFrom('leases').execute();
  });
  return {
    rows: Object.fromEntries([...digests].map(([table, { rows }]) => [table, rows])),
    contents: blobs,
    bytes: blobBytes,
    auditFaults: chain.faults,
  };
}

/** Rejects a source without a store, an unfinished copy, and another version of the schema. Changes nothing. */
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
    throw new CopyError('no_source', `Cannot read a store at the source (${reason}).`, { cause: error });
  });
}

async function assertFolderEmpty({ dataDir, databaseUrl }: StoreSettings): Promise<void> {
  if (databaseUrl !== undefined) return;
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found = names.find((name) => !emptyFolderNames.has(name));
  if (found !== undefined) throw notEmpty(`${dataDir} contains "${found}"`);
}

/** Marks the target as an unfinished copy of the source. It must be empty, or an unfinished copy of the same source. */
async function markTarget({ tables, db, target, mark }: Copy): Promise<void> {
  const isMarked = (await markOf(db)) !== undefined;
  if (!isMarked) for await (const _ of target.blobs.list()) throw notEmpty('it has contents of plugins');
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

async function assertMarked(tx: Db, mark: string): Promise<void> {
  if ((await markOf(tx)) === mark) return;
  throw new CopyError('interrupted', 'Another copy into the target has begun.');
}

async function markOf(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom('leases').select('holder').where('kind', '=', 'unfinished_copy').executeTakeFirst();
  return row?.holder;
}

/** Copies all rows in one transaction, so that the target has either no rows or a consistent snapshot. */
async function copyRows({ tables, from, db, mark, signal }: Copy, lease: Lease): Promise<Digests> {
  return readSnapshot(from, (source) =>
    db.transaction().execute(async (tx) => {
      await assertMarked(tx, mark);
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

/** Returns a lease without effect for a store that can't be written, because its garbage collection can't run either. */
async function takeCopyLease({ source, clock, random }: Copy): Promise<Lease> {
  try {
    const options = { lengthMs: leaseMs, isExclusive: false };
    const lease = await takeLease({ store: source.store, clock, random }, 'copy', options);
    if (lease === undefined) throw new Error('A lease that is not exclusive was refused');
    return lease;
  } catch (error) {
    if (!(error instanceof StorageFullError || error instanceof ReadOnlyError)) throw error;
    return { holder: '', async renew() {}, async release() {} };
  }
}

function notEmpty(detail: string): CopyError {
  return new CopyError('not_empty', `The target is not empty: ${detail}.`);
}

function differs(detail: string): CopyError {
  return new CopyError('differs', `The target differs from the source: ${detail}.`);
}

/** Identifies the locations of a store's metadata and blobs by digests, which don't reveal them. */
async function storeIds(settings: StoreSettings) {
  const { databaseUrl, dataDir, s3Bucket, s3Endpoint = '', s3Prefix = '' } = settings;
  const folder = await realpath(dataDir).catch(() => dataDir);
  return {
    metadata: digest(databaseUrl === undefined ? ['folder', folder] : await postgresLocation(databaseUrl)),
    blobs: digest(s3Bucket === undefined ? ['folder', folder] : ['s3', s3Endpoint, s3Bucket, s3Prefix]),
  };
}

async function postgresLocation(url: string): Promise<string[]> {
  const { default: pg } = await import('pg');
  const { host, port, database } = new pg.Client(url); // not connected
  return ['postgres', host, String(port), database ?? ''];
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
