import { type ExpressionBuilder, sql } from 'kysely';
import type { BlobRecord, HousekeepingMutations, HousekeepingQueries } from '../../domain/housekeeping/ports.ts';
import type { Database, Db } from './schema.ts';

const columns = [
  'address',
  'size',
  'state',
  'epoch',
  'lease_until_ms as leaseUntilMs',
  'unused_since_ms as unusedSinceMs',
] as const;

/** As a literal: with a parameter in its place the index of these rows alone would not be used. */
const deleting = sql.lit('deleting' as const);

const versionsOf = ({ selectFrom }: ExpressionBuilder<Database, 'blobs'>) =>
  selectFrom('versions').select('versions.id').whereRef('versions.content_address', '=', 'blobs.address');

export function blobQueries(
  db: Db,
): Pick<
  HousekeepingQueries,
  'blob' | 'blobs' | 'knownBlobs' | 'blobsBeingDeleted' | 'namedContents' | 'isContentNamed'
> {
  return {
    blob: (address) => db.selectFrom('blobs').select(columns).where('address', '=', address).executeTakeFirst(),
    async blobs({ after, limit }) {
      const rows = await db
        .selectFrom('blobs')
        .select(columns)
        .select((eb) => eb.exists(versionsOf(eb)).as('isNamed'))
        .where('address', '>', after ?? ('' as never))
        .orderBy('address')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...row, isNamed: Boolean(row.isNamed) }));
    },
    async knownBlobs(addresses) {
      if (addresses.length === 0) return [];
      const rows = await db.selectFrom('blobs').select('address').where('address', 'in', addresses).execute();
      return rows.map(({ address }) => address);
    },
    blobsBeingDeleted: ({ after, limit }) =>
      db
        .selectFrom('blobs')
        .select(columns)
        .where('state', '=', deleting)
        .where('address', '>', after ?? ('' as never))
        .orderBy('address')
        .limit(limit)
        .execute(),
    namedContents: ({ after, limit }) =>
      db
        .selectFrom('versions')
        .select(({ fn }) => [
          'content_address as address',
          fn.countAll<number>().as('versions'),
          fn.min('size').as('minSize'),
          fn.max('size').as('maxSize'),
        ])
        .where('content_address', '>', after ?? ('' as never))
        .groupBy('content_address')
        .orderBy('content_address')
        .limit(limit)
        .execute(),
    async isContentNamed(address) {
      const version = db.selectFrom('versions').select('id').where('content_address', '=', address).limit(1);
      return (await version.executeTakeFirst()) !== undefined;
    },
  };
}

export function blobMutations(
  db: Db,
): Pick<HousekeepingMutations, 'holdBlob' | 'keepBlob' | 'adoptBlobs' | 'noteUnused' | 'condemnBlobs' | 'dropBlob'> {
  const changed = (address: BlobRecord['address']) => db.updateTable('blobs').where('address', '=', address);
  return {
    async holdBlob({ address, size, epoch, leaseUntilMs }) {
      const found = await blobQueries(db).blob(address);
      if (found !== undefined && found.state !== 'deleting') {
        const later = Math.max(leaseUntilMs, found.leaseUntilMs);
        await changed(address).set({ lease_until_ms: later }).execute();
        return found.epoch;
      }
      const row = {
        size,
        state: 'pending' as const,
        epoch,
        lease_until_ms: leaseUntilMs,
        unused_since_ms: null,
      };
      await (found === undefined
        ? db.insertInto('blobs').values({ address, ...row })
        : changed(address).set(row)
      ).execute();
      return epoch;
    },
    async keepBlob(address, epoch) {
      const { numUpdatedRows } = await changed(address)
        .where('epoch', '=', epoch)
        .where('state', '!=', 'deleting')
        .set({ state: 'present', unused_since_ms: null })
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    },
    async adoptBlobs(blobs) {
      if (blobs.length === 0) return;
      await db
        .insertInto('blobs')
        .values(blobs.map((blob) => ({ ...blob, state: 'present', lease_until_ms: 0, unused_since_ms: null })))
        .onConflict((conflict) => conflict.column('address').doNothing())
        .execute();
    },
    async noteUnused(addresses, nowMs) {
      if (addresses.length === 0) return 0;
      const { numUpdatedRows } = await db
        .updateTable('blobs')
        .set({ unused_since_ms: nowMs })
        .where('address', 'in', addresses)
        .where('unused_since_ms', 'is', null)
        .where('lease_until_ms', '<=', nowMs)
        .where((eb) => eb.not(eb.exists(versionsOf(eb))))
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    },
    async condemnBlobs({ unusedSinceMs, nowMs, limit }) {
      const found = await db
        .selectFrom('blobs')
        .select('address')
        .where('unused_since_ms', '<=', unusedSinceMs)
        .where('lease_until_ms', '<=', nowMs)
        .where('state', '!=', 'deleting')
        .where((eb) => eb.not(eb.exists(versionsOf(eb))))
        .limit(limit)
        .execute();
      if (found.length === 0) return [];
      return db
        .updateTable('blobs')
        .set({ state: 'deleting' })
        .where(
          'address',
          'in',
          found.map(({ address }) => address),
        )
        .returning(columns)
        .execute();
    },
    async dropBlob(address) {
      const { numDeletedRows } = await db
        .deleteFrom('blobs')
        .where('address', '=', address)
        .where('state', '=', 'deleting')
        .where((eb) => eb.not(eb.exists(versionsOf(eb))))
        .executeTakeFirstOrThrow();
      if (numDeletedRows > 0n) return true;
      // A version that came without keeping its bytes, as one of an older release would, keeps them all the same.
      await changed(address).where('state', '=', 'deleting').set({ state: 'present', unused_since_ms: null }).execute();
      return false;
    },
  };
}
