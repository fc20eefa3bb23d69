import type { AppId, ContentAddress, ExtensionPointId, GuestId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { areOfSamePlugin, type Db, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { atMost, contains, countMatches, equals, inChunks, paged, setOf } from '../db/page-queries.ts';
import type { AwaitingVersion, BoundVersion, Page, VersionGuest, VersionGuestsLimit } from '../db/query-types.ts';
import { columns, type PluginKey, type VersionDecision, type VersionRecord } from '../db/records.ts';

export const versionQueries = {
  /** Returns a plugin's versions, the newest first. The cursor is a version's number. */
  versions(db: Db, key: PluginKey, page: Page): Promise<VersionRecord[]> {
    const isUp = page.before !== undefined;
    const cursor = page.before ?? page.after;
    let versions = versionsOf(db, key).orderBy('versions.number', isUp ? 'asc' : 'desc');
    if (cursor !== undefined) versions = versions.where('versions.number', isUp ? '>' : '<', parseCursor(cursor));
    return atMost(versions, page.limit).execute();
  },

  version: (db: Db, key: PluginKey, number: number): Promise<VersionRecord | undefined> =>
    versionsOf(db, key).where('versions.number', '=', number).executeTakeFirst(),

  /** Returns the newest of a plugin's bound versions, apart from one. */
  newestBoundVersion: (db: Db, key: PluginKey, except: VersionId): Promise<VersionRecord | undefined> =>
    versionsOf(db, key)
      .where('versions.id', '!=', except)
      .where((eb) =>
        eb.exists(eb.selectFrom('bindings').select('bindings.name').whereRef('bindings.versionId', '=', 'versions.id')),
      )
      .orderBy('versions.number', 'desc')
      .limit(1)
      .executeTakeFirst(),

  async versionNumbers(db: Db, ids: readonly VersionId[]): Promise<ReadonlyMap<VersionId, number>> {
    const rows = await db.selectFrom('versions').select(['id', 'number']).where('id', 'in', setOf(ids)).execute();
    return new Map(rows.map(({ id, number }) => [id, number]));
  },

  /** Returns the newest of a plugin's versions with these bytes. */
  versionOfContent: (db: Db, key: PluginKey, contentAddress: ContentAddress): Promise<VersionRecord | undefined> =>
    withContent(db, key, contentAddress, 1).executeTakeFirst(),

  /** Returns a plugin's versions with these bytes, the newest first. */
  versionsWithContent: (
    db: Db,
    key: PluginKey,
    contentAddress: ContentAddress,
    limit: number,
  ): Promise<VersionRecord[]> => withContent(db, key, contentAddress, limit).execute(),

  /** Returns the newest of a plugin's published versions, or the one with a semantic version. */
  newestPublished: (db: Db, key: PluginKey, semver?: string): Promise<VersionRecord | undefined> => {
    const published = publishedOf(db, key).orderBy('versions.number', 'desc').limit(1);
    return (semver === undefined ? published : published.where('versions.semver', '=', semver)).executeTakeFirst();
  },

  /** Returns the names of a plugin's published versions. */
  versionNamesOf: (db: Db, key: PluginKey): Promise<Pick<VersionRecord, 'number' | 'semver'>[]> =>
    publishedOf(db, key).clearSelect().select(['versions.number', 'versions.semver']).execute(),

  /** Returns the guests under which versions were published, by version id and guest id. */
  guestsOfVersions: (db: Db, versionIds: readonly VersionId[], range?: VersionGuestsLimit): Promise<VersionGuest[]> =>
    guestsOf(db, 'version_guests', versionIds, range),

  /** Returns the guests under which versions are bound, by version id. */
  guestsBoundTo: (db: Db, versionIds: readonly VersionId[], range?: VersionGuestsLimit): Promise<VersionGuest[]> =>
    guestsOf(db, 'bindings', versionIds, range),

  /** Returns those of these guests under which a version was published. */
  async guestsOfVersion(db: Db, versionId: VersionId, guestIds: readonly GuestId[]): Promise<GuestId[]> {
    const rows = await db
      .selectFrom('version_guests')
      .select('guestId')
      .where('versionId', '=', versionId)
      .where('guestId', 'in', setOf(guestIds))
      .execute();
    return rows.map(({ guestId }) => guestId);
  },

  /** Returns the guests under which a version was published and its plugin still has a binding, by id. */
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

  /** Returns the versions that are bound at an extension point, by id. */
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

  /** Returns the ids of versions that have their minimum age at a time, and are not published yet, by id. */
  async dueVersions(
    db: Db,
    nowMs: number,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<VersionId[]> {
    const due = await db
      .selectFrom('versions')
      .innerJoin('plugins', (join) => join.on(areOfSamePlugin('plugins', 'versions')))
      .innerJoin('extension_points', 'extension_points.id', 'versions.extensionPointId')
      .select('versions.id')
      // A literal, not a parameter, so that the planner can use the partial index.
      .where('versions.state', '=', sql.lit('cooling_down' as const))
      .where('versions.releaseAtMs', '<=', nowMs)
      .where('versions.id', '>', after as VersionId)
      .where('plugins.deletedAtMs', 'is', null)
      .where('extension_points.deletedAtMs', 'is', null)
      .orderBy('versions.id')
      .limit(limit)
      .execute();
    return due.map(({ id }) => id);
  },

  /** Returns an application's versions that await approval, by id, with the names of their publishers and extension points. */
  versionsAwaitingApproval: (db: Db, appId: AppId, page: Page, text?: string): Promise<AwaitingVersion[]> =>
    paged(awaitingVersions(db, appId, text), 'versions.id', page).execute(),

  countVersionsAwaitingApproval: (db: Db, appId: AppId, text: string | undefined): Promise<number> =>
    countMatches(db, awaitingVersions(db, appId, text)),
};

function awaitingVersions(db: Db, appId: AppId, text: string | undefined) {
  const awaiting = db
    .selectFrom('versions')
    .innerJoin('extension_points', 'extension_points.id', 'versions.extensionPointId')
    .innerJoin('users', 'users.id', 'versions.userId')
    .select(columns.versions)
    .select(['extension_points.name as extensionPointName', 'users.name as userName'])
    .where('versions.appId', '=', appId)
    .where('extension_points.deletedAtMs', 'is', null)
    // A literal, not a parameter, so that the planner can use the partial index.
    .where('versions.state', '=', sql.lit('awaiting_approval' as const));
  if (text === undefined) return awaiting;
  const searched = ['versions.name', 'users.name', 'extension_points.name'];
  return awaiting.where((eb) => eb.or([...searched.map((column) => contains(column, text)), equals('users.id', text)]));
}

function versionsOf(db: Db, key: PluginKey) {
  return db.selectFrom('versions').select(columns.versions).where(isOfPlugin('versions', key)).$castTo<VersionRecord>();
}

function withContent(db: Db, key: PluginKey, contentAddress: ContentAddress, limit: number) {
  const found = versionsOf(db, key).where('versions.contentAddress', '=', contentAddress);
  return found.orderBy('versions.number', 'desc').limit(limit);
}

function publishedOf(db: Db, key: PluginKey) {
  return versionsOf(db, key).where('versions.state', '=', 'published');
}

function guestsOf(
  db: Db,
  table: 'version_guests' | 'bindings',
  versionIds: readonly VersionId[],
  range: VersionGuestsLimit | undefined,
): Promise<VersionGuest[]> {
  const read = (chunk: readonly VersionId[], remaining: number | undefined) => {
    const direction = range?.isDescending ? 'desc' : 'asc';
    const guests = db
      .selectFrom(table)
      .select(['versionId', 'guestId'])
      .where('versionId', 'in', chunk)
      .orderBy('versionId', direction);
    // The index on bound versions has no guest ids, so sorting by them would read all rows, even with a limit.
    const ordered = table === 'bindings' ? guests : guests.orderBy('guestId', direction);
    return atMost(ordered, remaining).$castTo<VersionGuest>().execute();
  };
  return inChunks(versionIds, read, range?.limit);
}

/** Returns the version number in a cursor. For an invalid cursor returns 0, before which no version is. */
function parseCursor(cursor: string): number {
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0;
}

export const versionMutations = {
  /** Stores the interface of a version that has none yet. */
  putInterface: statement({ audit: false, invalidates: nothing }, (db: Db, id: VersionId, interfaceJson: string) =>
    db.updateTable('versions').set({ interfaceJson }).where('id', '=', id),
  ),

  decideVersions: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, ids: readonly VersionId[], { state, stateReason, stateAtMs, stateRole }: VersionDecision) =>
      db.updateTable('versions').set({ state, stateReason, stateAtMs, stateRole }).where('id', 'in', setOf(ids)),
  ),

  /** Stores that a version was published under guests. Existing rows stay unchanged. */
  putVersionGuests: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, versionId: VersionId, guestIds: readonly GuestId[]): Promise<void> => {
      // Without `where true`, SQLite parses `on` as part of a join.
      await sql`
        insert into version_guests ("versionId", "guestId")
        select ${versionId}, key from ${setOf(guestIds)} as guests where true
        on conflict ("versionId", "guestId") do nothing
      `.execute(db);
    },
  ),
};
