import type { VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { Mutations, Page, Queries, VersionGuest, VersionGuestsCut } from '../../domain/ports.ts';
import { columns, type PluginKey, type VersionRecord } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { atMost, inChunks, paged, setOf } from './paging.ts';

export function versionQueries(
  db: Db,
): Pick<
  Queries,
  | 'versions'
  | 'version'
  | 'versionOfContent'
  | 'guestsOfVersions'
  | 'guestsBoundTo'
  | 'versionsAwaitingApproval'
  | 'boundVersions'
  | 'claimantsOfVersion'
  | 'guestsOfVersion'
> {
  return {
    versions(key, page) {
      let versions = versionsOf(db, key).orderBy('versions.number', 'desc');
      if (page.after !== undefined) versions = versions.where('versions.number', '<', numberOf(page));
      return atMost(versions, page.limit).execute();
    },
    version: (key, number) => versionsOf(db, key).where('versions.number', '=', number).executeTakeFirst(),
    versionOfContent: (key, contentAddress) =>
      versionsOf(db, key)
        .where('versions.contentAddress', '=', contentAddress)
        .orderBy('versions.number', 'desc')
        .limit(1)
        .executeTakeFirst(),
    guestsOfVersions: (versionIds, cut) => guestsOf(db, 'version_guests', versionIds, cut),
    guestsBoundTo: (versionIds, cut) => guestsOf(db, 'bindings', versionIds, cut),
    async guestsOfVersion(versionId, guestIds) {
      const rows = await db
        .selectFrom('version_guests')
        .select('guestId')
        .where('versionId', '=', versionId)
        .where('guestId', 'in', setOf(guestIds))
        .execute();
      return rows.map(({ guestId }) => guestId);
    },
    async claimantsOfVersion({ id, extensionPointId, userId, name }, limit) {
      const rows = await db
        .selectFrom('version_guests')
        .innerJoin('bindings', 'bindings.guestId', 'version_guests.guestId')
        .select('bindings.guestId')
        .where('version_guests.versionId', '=', id)
        .where('bindings.extensionPointId', '=', extensionPointId)
        .where('bindings.name', '=', name)
        .where('bindings.userId', '=', userId)
        .orderBy('bindings.guestId')
        .limit(limit)
        .execute();
      return rows.map(({ guestId }) => guestId);
    },
    boundVersions(extensionPointId, page) {
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
    versionsAwaitingApproval(appId, page) {
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
}

function versionsOf(db: Db, { extensionPointId, userId, name }: PluginKey) {
  return db
    .selectFrom('versions')
    .select(columns.versions)
    .where('versions.extensionPointId', '=', extensionPointId)
    .where('versions.userId', '=', userId)
    .where('versions.name', '=', name)
    .$castTo<VersionRecord>();
}

function guestsOf(
  db: Db,
  table: 'version_guests' | 'bindings',
  versionIds: readonly VersionId[],
  cut: VersionGuestsCut | undefined,
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

export function versionMutations(db: Db): Pick<Mutations, 'decideVersions' | 'putVersionGuests' | 'keepInterface'> {
  return {
    async keepInterface(versionIds, interfaceJson) {
      await inChunks(versionIds, async (chunk) => {
        await db.updateTable('versions').set({ interfaceJson }).where('id', 'in', chunk).execute();
        return [];
      });
    },
    async decideVersions(ids, { state, stateReason, stateAtMs, stateSide }) {
      await db
        .updateTable('versions')
        .set({ state, stateReason, stateAtMs, stateSide })
        .where('id', 'in', setOf(ids))
        .execute();
    },
    async putVersionGuests(versionId, guestIds) {
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into version_guests ("versionId", "guestId")
        select ${versionId}, key from ${setOf(guestIds)} as guests where true
        on conflict ("versionId", "guestId") do nothing
      `.execute(db);
    },
  };
}
