import type { AppId } from '@tenon/protocol';
import { sql } from 'kysely';
import { type CacheTag, listTag } from '../cache/cache-tag.ts';
import { beforeAllChanges, type Change, type ChangeEventRecord, type ChangePosition } from '../db/change-records.ts';
import type { Db } from '../db/db.ts';
import { boundLists } from '../db/list-changes.ts';
import { mutation, nothing } from '../db/mutation.ts';
import { setOf } from '../db/page-queries.ts';
import { columns } from '../db/records.ts';

export const changeQueries = {
  /** Returns each application's position after its newest event; {@link beforeAllChanges} for one without events. */
  async changeHeads(db: Db, appIds: readonly AppId[]): Promise<ReadonlyMap<AppId, ChangePosition>> {
    const heads = await db
      .selectFrom('change_heads')
      .select(['appId', 'serial', 'mark'])
      .where('appId', 'in', setOf(appIds))
      .execute();
    const known = new Map(heads.map(({ appId, serial, mark }) => [appId, { serial, mark }]));
    return new Map(appIds.map((appId) => [appId, known.get(appId) ?? beforeAllChanges]));
  },

  /** Returns an application's stored events after a serial number, the oldest first and without gaps. */
  changes: (db: Db, appId: AppId, afterSerial: number, limit: number): Promise<ChangeEventRecord[]> =>
    db
      .selectFrom('change_events')
      .select(columns.changes)
      .where('appId', '=', appId)
      .where('serial', '>', afterSerial)
      .orderBy('serial')
      .limit(limit)
      .execute(),

  boundLists,
};

/** How many rows one statement inserts. Databases limit the number of a statement's parameters. */
const insertBatchSize = 100;

function tagsOf(_appId: AppId, changes: readonly Change[]): readonly CacheTag[] {
  return changes.flatMap((change) => {
    if ('pluginName' in change) return [];
    const { extensionPointId, guestKey } = change;
    return [guestKey === null ? extensionPointId : listTag(extensionPointId, guestKey)];
  });
}

/** The columns of a change. */
function columnsOf(change: Change) {
  const { extensionPointId } = change;
  return 'pluginName' in change
    ? { extensionPointId, guestKey: null, userId: change.userId, pluginName: change.pluginName }
    : { extensionPointId, guestKey: change.guestKey, userId: null, pluginName: null };
}

export const changeMutations = {
  /**
   * Inserts events of an application with the next serial numbers. Events become visible in the order of their serial numbers,
   * because other writers of the same application wait for the end of this transaction.
   *
   * @param keep how many events of the application stay stored; older ones are deleted
   */
  insertChanges: mutation(
    { audit: false, invalidates: tagsOf },
    async (
      db: Db,
      appId: AppId,
      changes: readonly Change[],
      { mark, atMs, keep }: { readonly mark: string; readonly atMs: number; readonly keep: number },
    ): Promise<void> => {
      // Locks the head's row until the end of the transaction, so that writers of one application take turns.
      const { serial: last } = await db
        .insertInto('change_heads')
        .values({ appId, serial: changes.length, mark })
        .onConflict((conflict) =>
          conflict.column('appId').doUpdateSet({ serial: sql`change_heads.serial + ${changes.length}`, mark }),
        )
        .returning('serial')
        .executeTakeFirstOrThrow();
      const first = last - changes.length + 1;
      const rows = changes.map((change, index) => ({ appId, serial: first + index, mark, atMs, ...columnsOf(change) }));
      const stored = rows.slice(-keep);
      for (let at = 0; at < stored.length; at += insertBatchSize) {
        await db
          .insertInto('change_events')
          .values(stored.slice(at, at + insertBatchSize))
          .execute();
      }
      if (last <= keep) return;
      await db
        .deleteFrom('change_events')
        .where('appId', '=', appId)
        .where('serial', '<=', last - keep)
        .execute();
    },
  ),

  /**
   * Makes all clients of an application's change stream fetch all lists again: deletes the stored events, and moves the head by one.
   */
  resetChanges: mutation(
    { audit: false, invalidates: tagsOf },
    async (db: Db, appId: AppId, _changes: readonly Change[], { mark }: { readonly mark: string }): Promise<void> => {
      await db
        .insertInto('change_heads')
        .values({ appId, serial: 1, mark })
        .onConflict((conflict) => conflict.column('appId').doUpdateSet({ serial: sql`change_heads.serial + 1`, mark }))
        .execute();
      await db.deleteFrom('change_events').where('appId', '=', appId).execute();
    },
  ),

  /** Deletes events from before a time, the oldest first, and keeps the heads. Returns the number of deleted events. */
  deleteChangesBefore: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, beforeMs: number, limit: number): Promise<number> => {
      const old = await db
        .selectFrom('change_events')
        .select(['appId', 'serial'])
        .where('atMs', '<', beforeMs)
        .orderBy('atMs')
        .orderBy('appId')
        .orderBy('serial')
        .limit(limit)
        .execute();
      // Deletes all events up to the last serial number, even if the clock was set back, so that the rest has no gap.
      const upTo = new Map<AppId, number>();
      for (const { appId, serial } of old) upTo.set(appId, Math.max(serial, upTo.get(appId) ?? 0));
      let deleted = 0;
      for (const [appId, serial] of upTo) {
        const { numDeletedRows } = await db
          .deleteFrom('change_events')
          .where('appId', '=', appId)
          .where('serial', '<=', serial)
          .executeTakeFirstOrThrow();
        deleted += Number(numDeletedRows);
      }
      return deleted;
    },
  ),
};
