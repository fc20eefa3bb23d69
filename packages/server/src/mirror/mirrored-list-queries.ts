import type { AppId, ExtensionPointId, GuestId, UserId, VersionId } from '@tenon/protocol';
import { listTag } from '../cache/cache-tag.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation } from '../db/mutation.ts';
import { naturalKey } from '../db/natural-key.ts';
import type { GuestRecord } from '../db/records.ts';

/* The binding lists of a mirror, with their guests. */

/** A list of a mirrored guest key. */
export interface MirroredList {
  readonly extensionPointId: ExtensionPointId;
  readonly guestKey: string;
}

/** An entry of a mirrored list. */
export interface MirroredBinding {
  readonly name: string;
  readonly userId: UserId;
  readonly versionId: VersionId;
  readonly updatedAtMs: number;
}

/** How many rows one statement inserts. */
const insertBatchSize = 100;

export const mirroredListQueries = {
  /** The guests of an application that have bindings, by id. */
  mirroredGuests: (
    db: Db,
    appId: AppId,
    { after, limit }: { readonly after: GuestId | undefined; readonly limit: number },
  ): Promise<Pick<GuestRecord, 'id' | 'guestKey'>[]> =>
    db
      .selectFrom('guests')
      .select(['id', 'guestKey'])
      .where('appId', '=', appId)
      .where('id', '>', after ?? ('' as GuestId))
      .orderBy('id')
      .limit(limit)
      .execute(),

  /** Counts the binding lists of an application that have plugins. */
  async countMirroredLists(db: Db, appId: AppId): Promise<number> {
    const lists = db
      .selectFrom('extension_points')
      .innerJoin('bindings', 'bindings.extensionPointId', 'extension_points.id')
      .select(['bindings.extensionPointId', 'bindings.guestId'])
      .distinct()
      .where('extension_points.appId', '=', appId);
    const { count } = await db
      .selectFrom(lists.as('matches'))
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  },
};

export const mirroredListMutations = {
  /**
   * Replaces a binding list. The contents of versions that it no longer names stay until `keepUntilMs`, because hosts may have older lists. One
   * that only loses entries, as after a block, may use the disk reserve.
   */
  putMirroredList: mutation(
    {
      audit: false,
      invalidates: ({ extensionPointId, guestKey }) => [listTag(extensionPointId, guestKey)],
      changes: (changed, db, { extensionPointId, guestKey }) => changed.addLists(db, extensionPointId, [guestKey]),
      usesDiskReserve: (_list, _guest, _bindings, { isRemoval }) => isRemoval,
    },
    async (
      db: Db,
      { extensionPointId, guestKey }: MirroredList,
      guest: Omit<GuestRecord, 'guestKey'>,
      bindings: readonly MirroredBinding[],
      { keepUntilMs }: { readonly keepUntilMs: number; readonly isRemoval: boolean },
    ): Promise<void> => {
      const { appId } = guest;
      if (bindings.length > 0) {
        await db
          .insertInto('guests')
          .values({ ...guest, guestKey, sortKey: naturalKey(guestKey) })
          .onConflict((conflict) => conflict.columns(['appId', 'guestKey']).doNothing())
          .execute();
      }
      const found = await db
        .selectFrom('guests')
        .select('id')
        .where('appId', '=', appId)
        .where('guestKey', '=', guestKey)
        .executeTakeFirst();
      if (found === undefined) return;
      const ofList = db
        .selectFrom('bindings')
        .where('extensionPointId', '=', extensionPointId)
        .where('guestId', '=', found.id);
      const present = await ofList.select(['name', 'userId', 'versionId', 'updatedAtMs']).execute();
      const next = new Map(bindings.map((each) => [each.name, each]));
      const isKept = (each: { name: string; userId: UserId; versionId: VersionId | null; updatedAtMs: number }) => {
        const other = next.get(each.name);
        const { userId, versionId, updatedAtMs } = other ?? {};
        return userId === each.userId && versionId === each.versionId && updatedAtMs === each.updatedAtMs;
      };
      const kept = new Set(present.filter(isKept).map(({ name }) => name));
      const removed = present.filter(({ name }) => !kept.has(name));
      for (let at = 0; at < removed.length; at += insertBatchSize) {
        const some = removed.slice(at, at + insertBatchSize);
        await keepContents(
          db,
          some.flatMap(({ versionId }) => versionId ?? []),
          keepUntilMs,
        );
        await db
          .deleteFrom('bindings')
          .where('extensionPointId', '=', extensionPointId)
          .where('guestId', '=', found.id)
          .where(
            'name',
            'in',
            some.map(({ name }) => name),
          )
          .execute();
      }
      const unbound = { pinnedVersionId: null, selectedVersionId: null, selectedAtNumber: null };
      const added = bindings.filter(({ name }) => !kept.has(name));
      for (let at = 0; at < added.length; at += insertBatchSize) {
        await db
          .insertInto('bindings')
          .values(
            added
              .slice(at, at + insertBatchSize)
              .map((each) => ({ ...each, ...unbound, extensionPointId, guestId: found.id })),
          )
          .execute();
      }
      if (
        bindings.length > 0 ||
        (await hasRow(db.selectFrom('bindings').select('name').where('guestId', '=', found.id)))
      )
        return;
      await db.deleteFrom('guests').where('id', '=', found.id).execute();
    },
  ),
};

/** Extends the leases of the contents of versions, so that they are not deleted before. */
async function keepContents(db: Db, ids: readonly VersionId[], untilMs: number): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('blobs')
    .set({ leaseUntilMs: untilMs })
    .where('leaseUntilMs', '<', untilMs)
    .where('address', 'in', (eb) =>
      eb.selectFrom('versions').select('versions.contentAddress').where('versions.id', 'in', ids),
    )
    .execute();
}
