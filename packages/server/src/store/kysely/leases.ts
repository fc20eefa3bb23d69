import type { HousekeepingMutations, HousekeepingQueries } from '../../domain/housekeeping/ports.ts';
import type { Db } from './db.ts';

/** No lease is as long: one that ends later was taken by a clock that was ahead, and holds nothing. */
const longestLeaseMs = 2 * 24 * 60 * 60 * 1000;

export function leaseQueries(db: Db): Pick<HousekeepingQueries, 'leaseHolders' | 'isUnfinishedCopy'> {
  return {
    async leaseHolders(kind, nowMs) {
      const rows = await db
        .selectFrom('leases')
        .select('holder')
        .where('kind', '=', kind)
        .where('untilMs', '>', nowMs)
        .where('untilMs', '<=', nowMs + longestLeaseMs)
        .orderBy('holder')
        .execute();
      return rows.map(({ holder }) => holder);
    },
    async isUnfinishedCopy() {
      const row = await db.selectFrom('leases').select('kind').where('kind', '=', 'unfinished_copy').executeTakeFirst();
      return row !== undefined;
    },
  };
}

export function leaseMutations(db: Db): Pick<HousekeepingMutations, 'putLease' | 'deleteLease' | 'deleteEndedLeases'> {
  return {
    async putLease({ kind, holder, untilMs }) {
      await db
        .insertInto('leases')
        .values({ kind, holder, untilMs })
        .onConflict((conflict) => conflict.columns(['kind', 'holder']).doUpdateSet({ untilMs }))
        .execute();
    },
    async deleteLease({ kind, holder }) {
      await db.deleteFrom('leases').where('kind', '=', kind).where('holder', '=', holder).execute();
    },
    async deleteEndedLeases(kind, nowMs) {
      await db.deleteFrom('leases').where('kind', '=', kind).where('untilMs', '<=', nowMs).execute();
    },
  };
}
