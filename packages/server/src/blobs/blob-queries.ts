import type { ContentAddress } from '@tenon/protocol';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { type BlobId, type BlobKey, blobKey } from '../db/blob-key.ts';
import type { BlobDeletion, BlobPage, BlobRecord, DueBlobs, ReferencedContent } from '../db/blob-records.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { columns, type Database } from '../db/records.ts';

const idColumns = ['address', 'generation', 'size'] as const;

type Blobs = ExpressionBuilder<Database, 'blobs'>;

const versionsOf = ({ selectFrom }: Blobs) =>
  selectFrom('versions').select('versions.id').whereRef('versions.contentAddress', '=', 'blobs.address');

/** Whether a row may be marked for deletion. */
function isDue(eb: Blobs, { unusedSinceMs, nowMs }: DueBlobs): Expression<SqlBool> {
  return eb.and([
    eb('unusedSinceMs', '<=', unusedSinceMs),
    eb('leaseUntilMs', '<=', nowMs),
    eb.not(eb.exists(versionsOf(eb))),
  ]);
}

export const blobQueries = {
  blob: (db: Db, address: ContentAddress): Promise<BlobRecord | undefined> =>
    db.selectFrom('blobs').select(columns.blobs).where('address', '=', address).executeTakeFirst(),

  /** All blobs, by address. `isReferenced`: whether a version references the blob. */
  async blobs(db: Db, { after, limit }: BlobPage): Promise<(BlobRecord & { readonly isReferenced: boolean })[]> {
    const rows = await db
      .selectFrom('blobs')
      .select(columns.blobs)
      .select((eb) => eb.exists(versionsOf(eb)).as('isReferenced'))
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

  /** All content addresses that versions reference, in their order. */
  referencedContents: (db: Db, { after, limit }: BlobPage): Promise<ReferencedContent[]> =>
    db
      .selectFrom('versions')
      .leftJoin('blobs', 'blobs.address', 'versions.contentAddress')
      .select(({ fn }) => [
        'versions.contentAddress as address',
        fn.max<string | null>('blobs.generation').as('generation'),
        fn.countAll<number>().as('versions'),
        fn.min('versions.size').as('minSize'),
        fn.max('versions.size').as('maxSize'),
      ])
      .where('versions.contentAddress', '>', after ?? ('' as never))
      .groupBy('versions.contentAddress')
      .orderBy('versions.contentAddress')
      .limit(limit)
      .execute(),

  /** Whether a version references the content. */
  isContentReferenced: (db: Db, address: ContentAddress): Promise<boolean> =>
    hasRow(db.selectFrom('versions').select('id').where('contentAddress', '=', address)),
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
        .where((eb) => eb.not(eb.exists(versionsOf(eb))))
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
