import type { AppId, UserId } from '@tenon/protocol';
import type { ExpressionBuilder } from 'kysely';
import { ConflictError, type Mutations, type Page, type PendingRebind, type Queries } from '../../domain/ports.ts';
import type { BlockRecord, PluginKey, PluginRecord, VersionRecord } from '../../domain/records.ts';
import { atMost } from './paging.ts';
import type { Database, Db } from './schema.ts';
import { versionColumns } from './versions.ts';

export function pluginQueries(
  db: Db,
): Pick<Queries, 'plugin' | 'plugins' | 'mayReadContent' | 'pendingRebind' | 'pendingPlugins'> {
  return {
    async plugin({ extensionPointId, userId, name }) {
      const row = await pluginsWithNewestVersion(db)
        .where('plugins.extension_point_id', '=', extensionPointId)
        .where('plugins.user_id', '=', userId)
        .where('plugins.name', '=', name)
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async plugins(extensionPointId, userId, page) {
      let plugins = pluginsWithNewestVersion(db)
        .where('plugins.extension_point_id', '=', extensionPointId)
        .orderBy('plugins.user_id')
        .orderBy('plugins.name');
      if (userId !== undefined) plugins = plugins.where('plugins.user_id', '=', userId);
      const after = cursorOf(page);
      if (after !== undefined && after.userId === userId) {
        plugins = plugins.where('plugins.name', '>', after.name);
      } else if (after !== undefined) {
        plugins = plugins.where((eb) =>
          eb(eb.refTuple('plugins.user_id', 'plugins.name'), '>', eb.tuple(after.userId, after.name)),
        );
      }
      return (await atMost(plugins, page.limit).execute()).map(toRecord);
    },
    async pendingRebind({ extensionPointId, userId, name }) {
      const row = await db
        .selectFrom('plugins')
        .select(['pending_rebind_json as json', 'deleted_at_ms as deletedAtMs'])
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .executeTakeFirst();
      if (row?.json == null) return undefined;
      return { ...(JSON.parse(row.json) as PendingRebind), isDeleted: row.deletedAtMs !== null };
    },
    pendingPlugins: (limit) =>
      db
        .selectFrom('plugins')
        .select(['extension_point_id as extensionPointId', 'user_id as userId', 'name'])
        .where('pending_rebind_json', 'is not', null)
        .limit(limit)
        .execute(),
    async mayReadContent(userId, address, appId) {
      // Both halves go from the user's own applications into one index, however many others have the same bytes.
      const asMember = db.selectFrom('members').select('app_id').where('user_id', '=', userId);
      const asGuest = db
        .selectFrom('guest_users')
        .innerJoin('guests', 'guests.id', 'guest_users.guest_id')
        .select('guests.app_id')
        .where('guest_users.user_id', '=', userId);
      let ofApp = db
        .selectFrom('versions')
        .select('app_id')
        .where('content_address', '=', address)
        .where('app_id', 'in', asMember)
        .where(isPresent);
      let own = db
        .selectFrom('versions')
        .select('app_id')
        .where('content_address', '=', address)
        .where('app_id', 'in', asGuest)
        .where('user_id', '=', userId)
        .where(isPresent);
      if (appId !== undefined) {
        ofApp = ofApp.where('app_id', '=', appId);
        own = own.where('app_id', '=', appId);
      }
      const found = (await ofApp.limit(1).executeTakeFirst()) ?? (await own.limit(1).executeTakeFirst());
      return found !== undefined;
    },
  };
}

/** Whether a version's application and extension point are not deleted. */
function isPresent({ exists, selectFrom }: ExpressionBuilder<Database, 'versions'>) {
  return exists(
    selectFrom('extension_points')
      .innerJoin('apps', 'apps.id', 'extension_points.app_id')
      .select('apps.id')
      .whereRef('extension_points.id', '=', 'versions.extension_point_id')
      .where('extension_points.deleted_at_ms', 'is', null)
      .where('apps.deleted_at_ms', 'is', null),
  );
}

function pluginsWithNewestVersion(db: Db) {
  return db
    .selectFrom('plugins')
    .innerJoin('versions', (join) =>
      join
        .onRef('versions.extension_point_id', '=', 'plugins.extension_point_id')
        .onRef('versions.user_id', '=', 'plugins.user_id')
        .onRef('versions.name', '=', 'plugins.name')
        .onRef('versions.number', '=', 'plugins.last_number'),
    )
    .select(versionColumns)
    .select(['plugins.created_at_ms as pluginCreatedAtMs', ...blockColumns])
    .where('plugins.deleted_at_ms', 'is', null);
}

/** What {@link blockOf} makes a record of. */
export const blockColumns = ['plugins.blocked_at_ms as blockedAtMs', 'plugins.blocked_reason as blockReason'] as const;

interface BlockRow {
  readonly blockedAtMs: number | null;
  readonly blockReason: string | null;
}

export function blockOf({ blockedAtMs, blockReason }: BlockRow): BlockRecord | null {
  return blockedAtMs === null ? null : { atMs: blockedAtMs, reason: blockReason ?? '' };
}

interface PluginRow extends VersionRecord, BlockRow {
  readonly pluginCreatedAtMs: number;
}

function toRecord(row: PluginRow): PluginRecord {
  const { pluginCreatedAtMs, blockedAtMs, blockReason, ...newest } = row;
  const { extensionPointId, userId, name } = newest;
  return {
    extensionPointId,
    userId,
    name,
    createdAtMs: pluginCreatedAtMs,
    newest,
    block: blockOf({ blockedAtMs, blockReason }),
  };
}

/** Takes `<user_id>/<name>` apart. */
function cursorOf({ after }: Page): { userId: UserId; name: string } | undefined {
  if (after === undefined) return undefined;
  const slash = after.indexOf('/');
  const [userId, name] = slash < 0 ? [after, ''] : [after.slice(0, slash), after.slice(slash + 1)];
  return { userId: userId as UserId, name };
}

export function pluginMutations(
  db: Db,
): Pick<Mutations, 'insertVersion' | 'blockPlugin' | 'deletePlugin' | 'putPendingRebind' | 'endPendingRebind'> {
  const pluginOf = ({ extensionPointId, userId, name }: PluginKey) =>
    db
      .updateTable('plugins')
      .where('extension_point_id', '=', extensionPointId)
      .where('user_id', '=', userId)
      .where('name', '=', name);
  return {
    async insertVersion(version, interfaceJson = null) {
      const app = await db
        .selectFrom('extension_points')
        .select('app_id')
        .where('id', '=', version.extensionPointId)
        .executeTakeFirstOrThrow();
      await (version.number === 1 ? insertPlugin(db, version, app.app_id) : countUp(db, version));
      await db
        .insertInto('versions')
        .values({
          id: version.id,
          extension_point_id: version.extensionPointId,
          user_id: version.userId,
          name: version.name,
          number: version.number,
          app_id: app.app_id,
          content_address: version.contentAddress,
          size: version.size,
          created_at_ms: version.createdAtMs,
          semver: version.semver,
          note: version.note,
          interface_json: interfaceJson,
          state: version.state,
          state_reason: version.stateReason,
          state_at_ms: version.stateAtMs,
          state_side: version.stateSide,
        })
        .execute();
    },
    async blockPlugin(key, block) {
      await pluginOf(key)
        .set({ blocked_at_ms: block?.atMs ?? null, blocked_reason: block?.reason ?? null })
        .execute();
    },
    async putPendingRebind(key, { after, selection }) {
      await pluginOf(key)
        .set({ pending_rebind_json: JSON.stringify({ after, selection }) })
        .execute();
    },
    async endPendingRebind(key) {
      await pluginOf(key).set({ pending_rebind_json: null }).execute();
    },
    async deletePlugin({ extensionPointId, userId, name }) {
      await db
        .deleteFrom('plugins')
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .execute();
    },
  };
}

async function insertPlugin(db: Db, version: VersionRecord, appId: AppId): Promise<void> {
  await db
    .insertInto('plugins')
    .values({
      extension_point_id: version.extensionPointId,
      user_id: version.userId,
      name: version.name,
      app_id: appId,
      last_number: version.number,
      bytes: version.size,
      created_at_ms: version.createdAtMs,
      blocked_at_ms: null,
      blocked_reason: null,
      deleted_at_ms: null,
      pending_rebind_json: null,
    })
    .execute();
}

async function countUp(db: Db, version: VersionRecord): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('plugins')
    .set(({ eb }) => ({ last_number: version.number, bytes: eb('bytes', '+', version.size) }))
    .where('extension_point_id', '=', version.extensionPointId)
    .where('user_id', '=', version.userId)
    .where('name', '=', version.name)
    .where('last_number', '=', version.number - 1)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) {
    throw new ConflictError(`Cannot add version ${version.number}: it is not the one after the plugin's last.`);
  }
}
