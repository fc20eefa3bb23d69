import type { LeaseKind, LeaseRecord } from '../db/blob-records.ts';
import { type Db, hasRow } from '../db/db.ts';
import { nothing, statement } from '../db/mutation.ts';

/** Longer than any lease. A lease that ends later is ignored, because the clock was ahead when it was taken. */
const maxLeaseMs = 2 * 24 * 60 * 60 * 1000;

export const leaseQueries = {
  /** The holders of the leases of a kind that have not expired. */
  async leaseHolders(db: Db, kind: LeaseKind, nowMs: number): Promise<string[]> {
    const rows = await db
      .selectFrom('leases')
      .select('holder')
      .where('kind', '=', kind)
      .where('untilMs', '>', nowMs)
      .where('untilMs', '<=', nowMs + maxLeaseMs)
      .orderBy('holder')
      .execute();
    return rows.map(({ holder }) => holder);
  },

  /** Whether the store is an unfinished copy, which no server may use. */
  isUnfinishedCopy: (db: Db): Promise<boolean> =>
    hasRow(db.selectFrom('leases').select('kind').where('kind', '=', 'unfinished_copy')),
};

export const leaseMutations = {
  /** Takes or extends a lease. */
  putLease: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, { kind, holder, untilMs }: LeaseRecord) =>
      db
        .insertInto('leases')
        .values({ kind, holder, untilMs })
        .onConflict((conflict) => conflict.columns(['kind', 'holder']).doUpdateSet({ untilMs })),
  ),

  deleteLease: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, { kind, holder }: Pick<LeaseRecord, 'kind' | 'holder'>) =>
      db.deleteFrom('leases').where('kind', '=', kind).where('holder', '=', holder),
  ),

  /** Deletes the expired leases of a kind. */
  deleteEndedLeases: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, kind: LeaseKind, nowMs: number) =>
      db.deleteFrom('leases').where('kind', '=', kind).where('untilMs', '<=', nowMs),
  ),
};
