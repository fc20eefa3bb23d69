import type { AppId, ContentAddress, ExtensionPointId, GuestId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { type Db, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { atMost, inChunks, paged, setOf } from '../db/page-queries.ts';
import type { AwaitingVersion, BoundVersion, Page, VersionGuest, VersionGuestsLimit } from '../db/query-types.ts';
import { columns, type PluginKey, type VersionDecision, type VersionRecord } from '../db/records.ts';

export const versionQueries = {
  /** A plugin's versions, the newest first; `after` is the number of the last one that was shown. */
  versions(db: Db, key: PluginKey, page: Page): Promise<VersionRecord[]> {
    let versions = versionsOf(db, key).orderBy('versions.number', 'desc');
    if (page.after !== undefined) versions = versions.where('versions.number', '<', numberOf(page));
    return atMost(versions, page.limit).execute();
  },

  version: (db: Db, key: PluginKey, number: number): Promise<VersionRecord | undefined> =>
    versionsOf(db, key).where('versions.number', '=', number).executeTakeFirst(),

  /** The newest of a plugin's versions that have these bytes. */
  versionOfContent: (db: Db, key: PluginKey, contentAddress: ContentAddress): Promise<VersionRecord | undefined> =>
    versionsOf(db, key)
      .where('versions.contentAddress', '=', contentAddress)
      .orderBy('versions.number', 'desc')
      .limit(1)
      .executeTakeFirst(),

  /** Under which guests these versions were published, in the order of the versions' and the guests' ids; at most `limit` when it is given. */
  guestsOfVersions: (db: Db, versionIds: readonly VersionId[], cut?: VersionGuestsLimit): Promise<VersionGuest[]> =>
    guestsOf(db, 'version_guests', versionIds, cut),

  /** Under which guests these versions are bound, in the order of the versions' ids; at most `limit` when it is given. */
  guestsBoundTo: (db: Db, versionIds: readonly VersionId[], cut?: VersionGuestsLimit): Promise<VersionGuest[]> =>
    guestsOf(db, 'bindings', versionIds, cut),

  /** Of these guests: those under which a version was published. */
  async guestsOfVersion(db: Db, versionId: VersionId, guestIds: readonly GuestId[]): Promise<GuestId[]> {
    const rows = await db
      .selectFrom('version_guests')
      .select('guestId')
      .where('versionId', '=', versionId)
      .where('guestId', 'in', setOf(guestIds))
      .execute();
    return rows.map(({ guestId }) => guestId);
  },

  /** The guests under which a version was published and its plugin claims its name, by id. */
  async bindingGuestsOfVersion(
    db: Db,
    { id, extensionPointId, userId, name }: VersionRecord,
    limit: number,
  ): Promise<GuestId[]> {
    const rows = await db
      .selectFrom('version_guests')
      .innerJoin('bindings', 'bindings.guestId', 'version_guests.guestId')
      .select('bindings.guestId')
      .where('version_guests.versionId', '=', id)
      .where(isOfPlugin('bindings', { extensionPointId, userId, name }))
      .orderBy('bindings.guestId')
      .limit(limit)
      .execute();
    return rows.map(({ guestId }) => guestId);
  },

  /** The versions of an extension point's plugins that are bound under some guest, by id. */
  boundVersions(db: Db, extensionPointId: ExtensionPointId, page: Page): Promise<BoundVersion[]> {
    const bound = db
      .selectFrom('versions')
      .innerJoin('users', 'users.id', 'versions.userId')
      .select(columns.versions)
      .select(['users.name as userName', 'versions.interfaceJson'])
      .where('versions.id', 'in', (eb) =>
        eb
          .selectFrom('bindings')
          .select('bindings.versionId')
          .where('bindings.extensionPointId', '=', extensionPointId)
          .where('bindings.versionId', 'is not', null),
      );
    return paged(bound, 'versions.id', page).execute();
  },

  /** The versions in an application that await approval, by id, with the names of who published them and against what. */
  versionsAwaitingApproval(db: Db, appId: AppId, page: Page): Promise<AwaitingVersion[]> {
    const awaiting = db
      .selectFrom('versions')
      .innerJoin('extension_points', 'extension_points.id', 'versions.extensionPointId')
      .innerJoin('users', 'users.id', 'versions.userId')
      .select(columns.versions)
      .select(['extension_points.name as extensionPointName', 'users.name as userName'])
      .where('versions.appId', '=', appId)
      .where('extension_points.deletedAtMs', 'is', null)
      // Written out, since a partial index serves only queries that can be seen to be within it.
      .where('versions.state', '=', sql.lit('awaiting_approval' as const));
    return paged(awaiting, 'versions.id', page).execute();
  },
};

function versionsOf(db: Db, key: PluginKey) {
  return db.selectFrom('versions').select(columns.versions).where(isOfPlugin('versions', key)).$castTo<VersionRecord>();
}

function guestsOf(
  db: Db,
  table: 'version_guests' | 'bindings',
  versionIds: readonly VersionId[],
  cut: VersionGuestsLimit | undefined,
): Promise<VersionGuest[]> {
  const ask = (chunk: readonly VersionId[], left: number | undefined) => {
    const direction = cut?.isDescending ? 'desc' : 'asc';
    const guests = db
      .selectFrom(table)
      .select(['versionId', 'guestId'])
      .where('versionId', 'in', chunk)
      .orderBy('versionId', direction);
    // The index by which bound versions are found has no guests, and to sort what is cut off would read all of it.
    const ordered = table === 'bindings' ? guests : guests.orderBy('guestId', direction);
    return atMost(ordered, left).$castTo<VersionGuest>().execute();
  };
  return inChunks(versionIds, ask, cut?.limit);
}

/** The number that a cursor holds; one that is none leads behind the list's end. */
function numberOf({ after }: Page): number {
  return /^\d{1,15}$/.test(after ?? '') ? Number(after) : 0;
}

export const versionMutations = {
  /** Keeps the interface of a version that was published before interfaces were kept. */
  putInterface: statement(
    {
      // What is kept of a version's bytes says no more than they do.
      audit: false,
      invalidates: nothing,
    },
    (db: Db, id: VersionId, interfaceJson: string) =>
      db.updateTable('versions').set({ interfaceJson }).where('id', '=', id),
  ),

  decideVersions: statement(
    { audit: true, invalidates: nothing, freesSpace: true },
    (db: Db, ids: readonly VersionId[], { state, stateReason, stateAtMs, stateSide }: VersionDecision) =>
      db.updateTable('versions').set({ state, stateReason, stateAtMs, stateSide }).where('id', 'in', setOf(ids)),
  ),

  /** Notes that a version was published under guests; nothing where it is known. */
  putVersionGuests: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, versionId: VersionId, guestIds: readonly GuestId[]): Promise<void> => {
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into version_guests ("versionId", "guestId")
        select ${versionId}, key from ${setOf(guestIds)} as guests where true
        on conflict ("versionId", "guestId") do nothing
      `.execute(db);
    },
  ),
};
