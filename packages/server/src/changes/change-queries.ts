import type { AppId } from '@tenon/protocol';
import { sql } from 'kysely';
import { type CacheTag, listTag } from '../cache/cache-tag.ts';
import {
  beforeAllChanges,
  type ChangedList,
  type ChangeEventRecord,
  type ChangePosition,
} from '../db/change-records.ts';
import type { Db } from '../db/db.ts';
import { boundLists } from '../db/list-changes.ts';
import { mutation, nothing } from '../db/mutation.ts';
import { setOf } from '../db/page-queries.ts';
import { columns } from '../db/records.ts';

export const changeQueries = {
  /** Where the news of each of these applications stands; {@link beforeAllChanges} for one that has had none, or isn't there. */
  async changeHeads(db: Db, appIds: readonly AppId[]): Promise<ReadonlyMap<AppId, ChangePosition>> {
    const heads = await db
      .selectFrom('change_heads')
      .select(['appId', 'serial', 'mark'])
      .where('appId', 'in', setOf(appIds))
      .execute();
    const known = new Map(heads.map(({ appId, serial, mark }) => [appId, { serial, mark }]));
    return new Map(appIds.map((appId) => [appId, known.get(appId) ?? beforeAllChanges]));
  },

  /** An application's news after a serial number, as far as it is kept, oldest first. There is no gap between them. */
  changes: (db: Db, appId: AppId, afterSerial: number, limit: number): Promise<ChangeEventRecord[]> =>
    db
      .selectFrom('change_events')
      .select(columns.changes)
      .where('appId', '=', appId)
      .where('serial', '>', afterSerial)
      .orderBy('serial')
      .limit(limit)
      .execute(),

  /** The lists in which some of the bindings that are meant bind something, each once. */
  boundLists,
};

/** How many rows one statement inserts at the most: databases bound the number of a statement's parameters. */
const rowsAtOnce = 100;

function changedLists(
  _appId: AppId,
  lists: readonly Pick<ChangedList, 'extensionPointId' | 'guestKey'>[],
): readonly CacheTag[] {
  return lists.map(({ extensionPointId, guestKey }) =>
    guestKey === null ? extensionPointId : listTag(extensionPointId, guestKey),
  );
}

export const changeMutations = {
  /**
   * Adds news to an application's, with the serial numbers that follow. Nobody sees a later one before these: whoever adds
   * to the same application's waits for the end of this transaction.
   *
   * @param keep how many of the application's are kept; older ones go
   */
  insertChanges: mutation(
    {
      // It tells hosts of what the row tells people of.
      audit: false,
      invalidates: changedLists,
    },
    async (
      db: Db,
      appId: AppId,
      lists: readonly Pick<ChangedList, 'extensionPointId' | 'guestKey'>[],
      { mark, atMs, keep }: { readonly mark: string; readonly atMs: number; readonly keep: number },
    ): Promise<void> => {
      // The row of the head is locked from here to the end of the transaction, which puts all who add in a row.
      const { serial: last } = await db
        .insertInto('change_heads')
        .values({ appId, serial: lists.length, mark })
        .onConflict((conflict) =>
          conflict.column('appId').doUpdateSet({ serial: sql`change_heads.serial + ${lists.length}`, mark }),
        )
        .returning('serial')
        .executeTakeFirstOrThrow();
      const first = last - lists.length + 1;
      const rows = lists.map(({ extensionPointId, guestKey }, index) => ({
        appId,
        serial: first + index,
        mark,
        atMs,
        extensionPointId,
        guestKey,
      }));
      const kept = rows.slice(-keep);
      for (let at = 0; at < kept.length; at += rowsAtOnce) {
        await db
          .insertInto('change_events')
          .values(kept.slice(at, at + rowsAtOnce))
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
   * Has all who follow an application's news ask for all lists: what was kept goes, and its news stands one serial number further on.
   *
   * @param lists those that changed
   */
  resetChanges: mutation(
    { audit: false, invalidates: changedLists },
    async (
      db: Db,
      appId: AppId,
      _lists: readonly Pick<ChangedList, 'extensionPointId' | 'guestKey'>[],
      { mark }: { readonly mark: string },
    ): Promise<void> => {
      await db
        .insertInto('change_heads')
        .values({ appId, serial: 1, mark })
        .onConflict((conflict) => conflict.column('appId').doUpdateSet({ serial: sql`change_heads.serial + 1`, mark }))
        .execute();
      await db.deleteFrom('change_events').where('appId', '=', appId).execute();
    },
  ),

  /** Deletes news from before a time, the oldest first; where an application's stands is still known. @returns how many */
  deleteChangesBefore: mutation(
    { audit: false, invalidates: nothing, freesSpace: true },
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
      // News goes from its beginning on, whatever a clock that was set back says, so that there is no gap in what stays.
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
