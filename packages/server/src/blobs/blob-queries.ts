import type { ContentAddress } from '@tenon/protocol';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { type BlobId, type BlobKey, blobKey } from '../db/blob-key.ts';
import type { BlobDeletion, BlobPage, BlobRecord, DueBlobs, ReferencedContent } from '../db/blob-records.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { columns, type Database } from '../db/records.ts';

const idColumns = ['address', 'generation', 'size'] as const;

type Blobs = ExpressionBuilder<Database, 'blobs'>;

/** Whether a version, a simulation, or an upload references a blob. */
function isReferenced(eb: Blobs) {
  const simulations = eb.selectFrom('simulations').select('simulations.id');
  return eb.or([
    eb.exists(eb.selectFrom('versions').select('versions.id').whereRef('contentAddress', '=', 'blobs.address')),
    eb.exists(simulations.whereRef('testModule', '=', 'blobs.address')),
    eb.exists(simulations.whereRef('mockHost', '=', 'blobs.address')),
    eb.exists(eb.selectFrom('oci_chunks').select('size').whereRef('oci_chunks.contentAddress', '=', 'blobs.address')),
  ]);
}

/** Whether a row may be marked for deletion. */
function isDue(eb: Blobs, { unusedSinceMs, nowMs }: DueBlobs): Expression<SqlBool> {
  return eb.and([eb('unusedSinceMs', '<=', unusedSinceMs), eb('leaseUntilMs', '<=', nowMs), eb.not(isReferenced(eb))]);
}

/** The columns that reference blobs, and those with the size in the same row. */
const references = [
  ['versions', 'versions', 'contentAddress', 'size'],
  ['simulations', 'simulations', 'testModule', 'testModuleSize'],
  ['simulations', 'simulations', 'mockHost', 'mockHostSize'],
] as const;

interface FoundReference extends Pick<ReferencedContent, 'address' | 'generation' | 'minSize' | 'maxSize'> {
  readonly count: number;
}

async function referencedBy(
  db: Db,
  { after = '' as ContentAddress, limit }: BlobPage,
  table: string,
  column: string,
  sizeColumn: string,
): Promise<FoundReference[]> {
  const [address, size] = [sql.ref(`${table}.${column}`), sql.ref(`${table}.${sizeColumn}`)];
  const { rows } = await sql<FoundReference>`
    select ${address} as address, max(blobs.generation) as generation, count(*) as count,
      min(${size}) as "minSize", max(${size}) as "maxSize"
    from ${sql.table(table)} left join blobs on blobs.address = ${address}
    where ${address} > ${after} group by ${address} order by ${address} limit ${limit}
  `.execute(db);
  return rows;
}

export const blobQueries = {
  blob: (db: Db, address: ContentAddress): Promise<BlobRecord | undefined> =>
    db.selectFrom('blobs').select(columns.blobs).where('address', '=', address).executeTakeFirst(),

  /** All blobs, by address. `isReferenced`: whether a version, a simulation, or an upload references the blob. */
  async blobs(db: Db, { after, limit }: BlobPage): Promise<(BlobRecord & { readonly isReferenced: boolean })[]> {
    const rows = await db
      .selectFrom('blobs')
      .select(columns.blobs)
      .select((eb) => isReferenced(eb).as('isReferenced'))
      .where('address', '>', after ?? ('' as never))
      .orderBy('address')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ ...row, isReferenced: Boolean(row.isReferenced) }));
  },

  /** Returns those of the given objects that have a row, as a blob or as a deletion. */
  async knownBlobs(db: Db, ids: readonly BlobId[]): Promise<BlobKey[]> {
    if (ids.length === 0) return [];
    const addresses = ids.map(({ address }) => address);
    const rows = await db
      .selectFrom('blobs')
      .select(['address', 'generation'])
      .where('address', 'in', addresses)
      .unionAll(db.selectFrom('blob_deletions').select(['address', 'generation']).where('address', 'in', addresses))
      .execute();
    const known = new Set(rows.map(blobKey));
    return ids.map(blobKey).filter((key) => known.has(key));
  },

  /** The objects that are marked for deletion. */
  blobDeletions: (db: Db, limit: number): Promise<BlobDeletion[]> =>
    db
      .selectFrom('blob_deletions')
      .select(idColumns)
      .where('address', '>', '' as never)
      .orderBy('address')
      .orderBy('generation')
      .limit(limit)
      .execute(),

  /** The number of blobs that {@link blobMutations.markForDeletion} would mark without a limit. */
  async countDueBlobs(db: Db, due: DueBlobs): Promise<number> {
    const found = await db
      .selectFrom('blobs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where((eb) => isDue(eb, due))
      .executeTakeFirstOrThrow();
    return found.count;
  },

  /** All content addresses that versions and simulations reference, in their order. */
  async referencedContents(db: Db, page: BlobPage): Promise<ReferencedContent[]> {
    const found = new Map<ContentAddress, ReferencedContent>();
    for (const [kind, table, column, sizeColumn] of references) {
      for (const { address, count, ...rest } of await referencedBy(db, page, table, column, sizeColumn)) {
        const other = found.get(address) ?? { versions: 0, simulations: 0, minSize: rest.minSize, maxSize: 0 };
        found.set(address, {
          ...other,
          address,
          generation: rest.generation,
          [kind]: other[kind] + count,
          minSize: Math.min(other.minSize, rest.minSize),
          maxSize: Math.max(other.maxSize, rest.maxSize),
        });
      }
    }
    const inOrder = [...found.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
    return inOrder.slice(0, page.limit);
  },

  /** Whether a version or a simulation references the content. */
  async isContentReferenced(db: Db, address: ContentAddress): Promise<boolean> {
    for (const [, table, column] of references) {
      if (
        await hasRow(
          db
            .selectFrom(table)
            .select('id')
            .where(column as never, '=', address as never),
        )
      )
        return true;
    }
    return false;
  },
};

const updateBlob = (db: Db, address: BlobRecord['address']) => db.updateTable('blobs').where('address', '=', address);

/**
 * Locks the rows. It waits for transactions that have changed them, such as publishes that are about to insert a version. The next
 * statement sees the commits of those.
 */
const lock = (db: Db, addresses: readonly BlobRecord['address'][]) =>
  db
    .updateTable('blobs')
    .set((eb) => ({ size: eb.ref('size') }))
    .where('address', 'in', addresses)
    .execute();

export const blobMutations = {
  /**
   * Takes or extends a blob's lease before its bytes are stored. Until the lease expires, the blob is not marked for deletion.
   *
   * @param blob with a new generation, which becomes the blob's if the address has no row
   * @returns the blob's generation
   */
  leaseBlob: mutation(
    { audit: false, invalidates: nothing },
    async (
      db: Db,
      { address, size, generation, leaseUntilMs }: Pick<BlobRecord, 'address' | 'size' | 'generation' | 'leaseUntilMs'>,
    ): Promise<string> => {
      const found = await blobQueries.blob(db, address);
      if (found !== undefined) {
        const later = Math.max(leaseUntilMs, found.leaseUntilMs);
        await updateBlob(db, address).set({ leaseUntilMs: later }).execute();
        return found.generation;
      }
      await db
        .insertInto('blobs')
        .values({ address, size, state: 'pending', generation, leaseUntilMs, unusedSinceMs: null })
        .execute();
      return generation;
    },
  ),

  /**
   * Sets a blob's state to `present`, for a version that references it.
   *
   * @returns `false` if the blob doesn't have this generation, because the object may have been deleted
   */
  markPresent: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, address: ContentAddress, generation: string): Promise<boolean> => {
      const { numUpdatedRows } = await updateBlob(db, address)
        .where('generation', '=', generation)
        .set({ state: 'present', unusedSinceMs: null })
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
  ),

  /**
   * Starts the grace periods of those of the given blobs that no version references and that have no lease. `restartsGrace` also
   * restarts grace periods that have begun.
   *
   * @returns the number of changed blobs
   */
  markUnused: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (
      db: Db,
      addresses: readonly ContentAddress[],
      nowMs: number,
      { restartsGrace = false }: { readonly restartsGrace?: boolean } = {},
    ): Promise<number> => {
      if (addresses.length === 0) return 0;
      await lock(db, addresses);
      let unused = db.updateTable('blobs').set({ unusedSinceMs: nowMs }).where('address', 'in', addresses);
      if (!restartsGrace) unused = unused.where('unusedSinceMs', 'is', null);
      const { numUpdatedRows } = await unused
        .where('leaseUntilMs', '<=', nowMs)
        .where((eb) => eb.not(isReferenced(eb)))
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    },
  ),

  /** Marks due blobs for deletion: replaces their rows by deletions. */
  markForDeletion: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, { limit, ...due }: DueBlobs & { readonly limit: number }): Promise<BlobDeletion[]> => {
      const found = await db
        .selectFrom('blobs')
        .select('address')
        .where((eb) => isDue(eb, due))
        .limit(limit)
        .execute();
      if (found.length === 0) return [];
      const addresses = found.map(({ address }) => address);
      await lock(db, addresses);
      const marked = await db
        .deleteFrom('blobs')
        .where('address', 'in', addresses)
        .where((eb) => isDue(eb, due))
        .returning(idColumns)
        .execute();
      if (marked.length > 0) await db.insertInto('blob_deletions').values(marked).execute();
      return marked;
    },
  ),

  /** Marks an object for deletion whose blob row no longer exists. Does nothing if it is already marked. */
  putBlobDeletion: statement(
    { audit: false, invalidates: nothing },
    (db: Db, { address, generation, size }: BlobDeletion) =>
      db
        .insertInto('blob_deletions')
        .values({ address, generation, size })
        .onConflict((conflict) => conflict.columns(['address', 'generation']).doNothing()),
  ),

  /** Deletes the rows of completed deletions. */
  deleteBlobDeletions: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, deletions: readonly BlobId[]): Promise<void> => {
      for (const { address, generation } of deletions) {
        await db
          .deleteFrom('blob_deletions')
          .where('address', '=', address)
          .where('generation', '=', generation)
          .execute();
      }
    },
  ),
};
