import { sql } from 'kysely';
import type { Mutations, Page, Queries } from '../../domain/ports.ts';
import type { PluginKey, VersionRecord } from '../../domain/records.ts';
import { inChunks, paged } from './paging.ts';
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
  'versions' | 'version' | 'versionOfContent' | 'guestsOfVersions' | 'versionsAwaitingApproval' | 'boundVersions'
> {
  return {
    versions(key, page) {
      let versions = versionsOf(db, key).orderBy('versions.number', 'desc');
      if (page.after !== undefined) versions = versions.where('versions.number', '<', numberOf(page));
      return (page.limit === undefined ? versions : versions.limit(page.limit)).execute();
    },
    version: (key, number) => versionsOf(db, key).where('versions.number', '=', number).executeTakeFirst(),
    versionOfContent: (key, contentAddress) =>
      versionsOf(db, key)
        .where('versions.content_address', '=', contentAddress)
        .orderBy('versions.number', 'desc')
        .limit(1)
        .executeTakeFirst(),
    guestsOfVersions: (versionIds) =>
      inChunks(versionIds, (chunk) =>
        db
          .selectFrom('version_guests')
          .select(['version_id as versionId', 'guest_id as guestId'])
          .where('version_id', 'in', chunk)
          .orderBy('version_id')
          .orderBy('guest_id')
          .execute(),
      ),
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

/** The number that a cursor holds; one that is none leads behind the list's end. */
function numberOf({ after }: Page): number {
  return /^\d{1,15}$/.test(after ?? '') ? Number(after) : 0;
}

export function versionMutations(db: Db): Pick<Mutations, 'decideVersion' | 'putVersionGuest' | 'keepInterface'> {
  return {
    async keepInterface(versionIds, interfaceJson) {
      await inChunks(versionIds, async (chunk) => {
        await db.updateTable('versions').set({ interface_json: interfaceJson }).where('id', 'in', chunk).execute();
        return [];
      });
    },
    async decideVersion(id, { state, stateReason, stateAtMs, stateSide }) {
      await db
        .updateTable('versions')
        .set({ state, state_reason: stateReason, state_at_ms: stateAtMs, state_side: stateSide })
        .where('id', '=', id)
        .execute();
    },
    async putVersionGuest(versionId, guestId) {
      await db
        .insertInto('version_guests')
        .values({ version_id: versionId, guest_id: guestId })
        .onConflict((conflict) => conflict.columns(['version_id', 'guest_id']).doNothing())
        .execute();
    },
  };
}
