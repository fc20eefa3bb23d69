import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { blobKey } from '../../domain/housekeeping/blob-key.ts';
import type {
  BlobRecord,
  DueBlobs,
  HousekeepingMutations,
  HousekeepingQueries,
} from '../../domain/housekeeping/ports.ts';
import { columns, type Database } from '../../domain/records.ts';
import type { Db } from './db.ts';

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

export function blobQueries(
  db: Db,
): Pick<
  HousekeepingQueries,
  'blob' | 'blobs' | 'knownBlobs' | 'blobDeletions' | 'countDueBlobs' | 'namedContents' | 'isContentNamed'
> {
  return {
    blob: (address) => db.selectFrom('blobs').select(columns.blobs).where('address', '=', address).executeTakeFirst(),
    async blobs({ after, limit }) {
      const rows = await db
        .selectFrom('blobs')
        .select(columns.blobs)
        .select((eb) => eb.exists(versionsOf(eb)).as('isNamed'))
        .where('address', '>', after ?? ('' as never))
        .orderBy('address')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...row, isNamed: Boolean(row.isNamed) }));
    },
    async knownBlobs(ids) {
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
    blobDeletions: (limit) =>
      db
        .selectFrom('blob_deletions')
        .select(idColumns)
        .where('address', '>', '' as never)
        .orderBy('address')
        .orderBy('generation')
        .limit(limit)
        .execute(),
    async countDueBlobs(due) {
      const found = await db
        .selectFrom('blobs')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where((eb) => isDue(eb, due))
        .executeTakeFirstOrThrow();
      return found.count;
    },
    namedContents: ({ after, limit }) =>
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
    async isContentNamed(address) {
      const version = db.selectFrom('versions').select('id').where('contentAddress', '=', address).limit(1);
      return (await version.executeTakeFirst()) !== undefined;
    },
  };
}

export function blobMutations(
  db: Db,
): Pick<
  HousekeepingMutations,
  'holdBlob' | 'keepBlob' | 'noteUnused' | 'markForDeletion' | 'putBlobDeletion' | 'deleteBlobDeletions'
> {
  const changed = (address: BlobRecord['address']) => db.updateTable('blobs').where('address', '=', address);
  /**
   * Waits for transactions that have changed these rows, among them publishes about to make a version, and keeps others from changing
   * them. The statement after it sees what those have committed.
   */
  const lock = (addresses: readonly BlobRecord['address'][]) =>
    db
      .updateTable('blobs')
      .set((eb) => ({ size: eb.ref('size') }))
      .where('address', 'in', addresses)
      .execute();
  return {
    async holdBlob({ address, size, generation, leaseUntilMs }) {
      const found = await blobQueries(db).blob(address);
      if (found !== undefined) {
        const later = Math.max(leaseUntilMs, found.leaseUntilMs);
        await changed(address).set({ leaseUntilMs: later }).execute();
        return found.generation;
      }
      await db
        .insertInto('blobs')
        .values({ address, size, state: 'pending', generation, leaseUntilMs, unusedSinceMs: null })
        .execute();
      return generation;
    },
    async keepBlob(address, generation) {
      const { numUpdatedRows } = await changed(address)
        .where('generation', '=', generation)
        .set({ state: 'present', unusedSinceMs: null })
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
    async noteUnused(addresses, nowMs, { restartsGrace = false } = {}) {
      if (addresses.length === 0) return 0;
      await lock(addresses);
      let unused = db.updateTable('blobs').set({ unusedSinceMs: nowMs }).where('address', 'in', addresses);
      if (!restartsGrace) unused = unused.where('unusedSinceMs', 'is', null);
      const { numUpdatedRows } = await unused
        .where('leaseUntilMs', '<=', nowMs)
        .where((eb) => eb.not(eb.exists(versionsOf(eb))))
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    },
    async markForDeletion({ limit, ...due }) {
      const found = await db
        .selectFrom('blobs')
        .select('address')
        .where((eb) => isDue(eb, due))
        .limit(limit)
        .execute();
      if (found.length === 0) return [];
      const addresses = found.map(({ address }) => address);
      await lock(addresses);
      const marked = await db
        .deleteFrom('blobs')
        .where('address', 'in', addresses)
        .where((eb) => isDue(eb, due))
        .returning(idColumns)
        .execute();
      if (marked.length > 0) await db.insertInto('blob_deletions').values(marked).execute();
      return marked;
    },
    async putBlobDeletion({ address, generation, size }) {
      await db
        .insertInto('blob_deletions')
        .values({ address, generation, size })
        .onConflict((conflict) => conflict.columns(['address', 'generation']).doNothing())
        .execute();
    },
    async deleteBlobDeletions(deletions) {
      for (const { address, generation } of deletions) {
        await db
          .deleteFrom('blob_deletions')
          .where('address', '=', address)
          .where('generation', '=', generation)
          .execute();
      }
    },
  };
}
