import type { VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { Mutations, Page, Queries, VersionGuest, VersionGuestsCut } from '../../domain/ports.ts';
import type { PluginKey, VersionRecord } from '../../domain/records.ts';
import { atMost, inChunks, paged, setOf } from './paging.ts';
import type { Db } from './schema.ts';

/** A version's columns, by the names that they have in its record. */
export const versionColumns = [
  'versions.extension_point_id as extensionPointId',
  'versions.user_id as userId',
  'versions.name',
  'versions.id',
  'versions.number',
  'versions.content_address as contentAddress',
  'versions.size',
  'versions.semver',
  'versions.note',
  'versions.created_at_ms as createdAtMs',
  'versions.state',
  'versions.state_reason as stateReason',
  'versions.state_at_ms as stateAtMs',
  'versions.state_side as stateSide',
] as const;

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
        .where('versions.content_address', '=', contentAddress)
        .orderBy('versions.number', 'desc')
        .limit(1)
        .executeTakeFirst(),
    guestsOfVersions: (versionIds, cut) => guestsOf(db, 'version_guests', versionIds, cut),
    guestsBoundTo: (versionIds, cut) => guestsOf(db, 'bindings', versionIds, cut),
    async guestsOfVersion(versionId, guestIds) {
      const rows = await db
        .selectFrom('version_guests')
        .select('guest_id')
        .where('version_id', '=', versionId)
        .where('guest_id', 'in', setOf(guestIds))
        .execute();
      return rows.map(({ guest_id }) => guest_id);
    },
    async claimantsOfVersion({ id, extensionPointId, userId, name }, limit) {
      const rows = await db
        .selectFrom('version_guests')
        .innerJoin('bindings', 'bindings.guest_id', 'version_guests.guest_id')
        .select('bindings.guest_id')
        .where('version_guests.version_id', '=', id)
        .where('bindings.extension_point_id', '=', extensionPointId)
        .where('bindings.name', '=', name)
        .where('bindings.user_id', '=', userId)
        .orderBy('bindings.guest_id')
        .limit(limit)
        .execute();
      return rows.map(({ guest_id }) => guest_id);
    },
    boundVersions(extensionPointId, page) {
      const bound = db
        .selectFrom('versions')
        .innerJoin('users', 'users.id', 'versions.user_id')
        .select(versionColumns)
        .select(['users.name as userName', 'versions.interface_json as interfaceJson'])
        .where('versions.id', 'in', (eb) =>
          eb
            .selectFrom('bindings')
            .select('bindings.version_id')
            .where('bindings.extension_point_id', '=', extensionPointId)
            .where('bindings.version_id', 'is not', null),
        );
      return paged(bound, 'versions.id', page).execute();
    },
    versionsAwaitingApproval(appId, page) {
      const awaiting = db
        .selectFrom('versions')
        .innerJoin('extension_points', 'extension_points.id', 'versions.extension_point_id')
        .innerJoin('users', 'users.id', 'versions.user_id')
        .select(versionColumns)
        .select(['extension_points.name as extensionPointName', 'users.name as userName'])
        .where('versions.app_id', '=', appId)
        .where('extension_points.deleted_at_ms', 'is', null)
        // Written out, since a partial index serves only queries that can be seen to be within it.
        .where('versions.state', '=', sql.lit('awaiting_approval' as const));
      return paged(awaiting, 'versions.id', page).execute();
    },
  };
}

function versionsOf(db: Db, { extensionPointId, userId, name }: PluginKey) {
  return db
    .selectFrom('versions')
    .select(versionColumns)
    .where('versions.extension_point_id', '=', extensionPointId)
    .where('versions.user_id', '=', userId)
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
      .select(['version_id as versionId', 'guest_id as guestId'])
      .where('version_id', 'in', chunk)
      .orderBy('version_id', direction);
    // The index by which bound versions are found has no guests, and to sort what is cut off would read all of it.
    const ordered = table === 'bindings' ? guests : guests.orderBy('guest_id', direction);
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
        await db.updateTable('versions').set({ interface_json: interfaceJson }).where('id', 'in', chunk).execute();
        return [];
      });
    },
    async decideVersions(ids, { state, stateReason, stateAtMs, stateSide }) {
      await db
        .updateTable('versions')
        .set({ state, state_reason: stateReason, state_at_ms: stateAtMs, state_side: stateSide })
        .where('id', 'in', setOf(ids))
        .execute();
    },
    async putVersionGuests(versionId, guestIds) {
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into version_guests (version_id, guest_id)
        select ${versionId}, key from ${setOf(guestIds)} as guests where true
        on conflict (version_id, guest_id) do nothing
      `.execute(db);
    },
  };
}
