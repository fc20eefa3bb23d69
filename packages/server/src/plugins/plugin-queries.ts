import type { AppId, ContentAddress, ExtensionPointId, PluginAbout, TrustRuleId, UserId } from '@tenon/protocol';
import type { ExpressionBuilder } from 'kysely';
import { allContentsTag, pluginDocumentsTag } from '../cache/cache-tag.ts';
import type { AuditCredentialId } from '../db/audit-records.ts';
import { appsOfGuestUser, appsOfMember, areOfSamePlugin, type Db, hasRow, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { naturalKey } from '../db/natural-key.ts';
import type { FoundPendingRebind } from '../db/query-types.ts';
import {
  type BlockRecord,
  columns,
  type Database,
  type PendingRebind,
  type PluginKey,
  type PluginRecord,
  type VersionRecord,
} from '../db/records.ts';
import { ConflictError } from '../db/store-errors.ts';
import { isOfPublisher } from './blocked-publisher-queries.ts';

export const pluginQueries = {
  async plugin(db: Db, key: PluginKey): Promise<PluginRecord | undefined> {
    const row = await pluginsWithNewestVersion(db).where(isOfPlugin('plugins', key)).executeTakeFirst();
    return row && toRecord(row);
  },

  pluginAbout: (db: Db, key: PluginKey): Promise<PluginAbout | undefined> =>
    db
      .selectFrom('plugins')
      .select(['description', 'homepage', 'readme'])
      .where(isOfPlugin('plugins', key))
      .executeTakeFirst(),

  /** Counts a user's plugins at each extension point of an application. */
  async countOwnPlugins(db: Db, appId: AppId, userId: UserId): Promise<ReadonlyMap<ExtensionPointId, number>> {
    const rows = await db
      .selectFrom('plugins')
      .select((eb) => ['extensionPointId', eb.fn.countAll<number>().as('count')])
      .where('userId', '=', userId)
      .where('appId', '=', appId)
      .where('deletedAtMs', 'is', null)
      .groupBy('extensionPointId')
      .execute();
    return new Map(rows.map(({ extensionPointId, count }) => [extensionPointId, count]));
  },

  /** Returns the progress of a plugin's pending rebind, if there is one. */
  async pendingRebind(db: Db, key: PluginKey): Promise<FoundPendingRebind | undefined> {
    const row = await db
      .selectFrom('plugins')
      .select(['pendingRebind', 'deletedAtMs'])
      .where(isOfPlugin('plugins', key))
      .executeTakeFirst();
    if (row?.pendingRebind == null) return undefined;
    return { ...row.pendingRebind, isDeleted: row.deletedAtMs !== null };
  },

  /** Returns plugins with a pending rebind or deletion. */
  pendingPlugins: (db: Db, limit: number): Promise<PluginKey[]> =>
    db
      .selectFrom('plugins')
      .select(['extensionPointId', 'userId', 'name'])
      .where('pendingRebind', 'is not', null)
      .limit(limit)
      .execute(),

  /**
   * Whether a user may read a content: a version with it belongs to an application of which the user is a member, or to the
   * user's own plugin in an application of which the user holds a guest. With `appId`, only in that application.
   */
  async mayReadContent(
    db: Db,
    userId: UserId,
    address: ContentAddress,
    appId: AppId | undefined,
    hasPasskey = true,
  ): Promise<boolean> {
    // Both queries start from the user's applications, so that their time doesn't depend on how many versions have these bytes.
    let versions = db.selectFrom('versions').select('appId').where('contentAddress', '=', address).where(isPresent);
    if (appId !== undefined) versions = versions.where('appId', '=', appId);
    let ofApp = versions.where('appId', 'in', appsOfMember(db, userId));
    if (!hasPasskey) ofApp = ofApp.where(isOfAppWithoutPasskeys);
    const own = versions.where('appId', 'in', appsOfGuestUser(db, userId)).where('userId', '=', userId);
    return (await hasRow(ofApp)) || (await hasRow(own));
  },
};

/** Whether a version's application doesn't require passkeys of its members. */
function isOfAppWithoutPasskeys({ exists, selectFrom }: ExpressionBuilder<Database, 'versions'>) {
  return exists(
    selectFrom('apps')
      .select('apps.id')
      .whereRef('apps.id', '=', 'versions.appId')
      .where('apps.requiresPasskey', '=', false),
  );
}

/** Whether a version's application and extension point are not deleted. */
function isPresent({ exists, selectFrom }: ExpressionBuilder<Database, 'versions'>) {
  return exists(
    selectFrom('extension_points')
      .innerJoin('apps', 'apps.id', 'extension_points.appId')
      .select('apps.id')
      .whereRef('extension_points.id', '=', 'versions.extensionPointId')
      .where('extension_points.deletedAtMs', 'is', null)
      .where('apps.deletedAtMs', 'is', null),
  );
}

/** Plugins that are not deleted, joined with their newest versions. */
export function pluginsWithNewestVersion(db: Db) {
  return db
    .selectFrom('plugins')
    .innerJoin('versions', (join) =>
      join.on(areOfSamePlugin('versions', 'plugins')).onRef('versions.number', '=', 'plugins.lastNumber'),
    )
    .select(columns.versions)
    .leftJoin('blocked_publishers', (join) => join.on(isOfPublisher))
    .select(['plugins.createdAtMs as pluginCreatedAtMs', 'plugins.block', 'plugins.description', 'plugins.homepage'])
    .select('blocked_publishers.block as publisherBlock')
    .where('plugins.deletedAtMs', 'is', null);
}

/** The credential of a publish. */
export interface PublishMeans {
  readonly credentialId: AuditCredentialId | null;
  readonly trustRuleId: TrustRuleId | null;
}

const noMeans: PublishMeans = { credentialId: null, trustRuleId: null };

export interface PluginRow
  extends VersionRecord,
    Pick<PluginRecord, 'block' | 'publisherBlock' | 'description' | 'homepage'> {
  readonly pluginCreatedAtMs: number;
}

export function toRecord(row: PluginRow): PluginRecord {
  const { pluginCreatedAtMs: createdAtMs, block, publisherBlock, description, homepage, ...newest } = row;
  const { extensionPointId, userId, name } = newest;
  return { extensionPointId, userId, name, createdAtMs, newest, block, publisherBlock, description, homepage };
}

const updatePlugin = (db: Db, key: PluginKey) => db.updateTable('plugins').where(isOfPlugin('plugins', key));

export const pluginMutations = {
  /**
   * Inserts a version, and for version 1 also the plugin.
   *
   * @throws ConflictError if `number` is not the one after the plugin's last
   */
  insertVersion: mutation(
    { audit: true, invalidates: (version) => [pluginDocumentsTag(version)] },
    async (
      db: Db,
      version: VersionRecord,
      interfaceJson: string | null = null,
      { credentialId, trustRuleId }: PublishMeans = noMeans,
    ): Promise<void> => {
      await (version.number === 1 ? insertPlugin(db, version) : updateLastNumber(db, version));
      await db
        .insertInto('versions')
        .values({
          ...version,
          appId: appOf(db, version),
          interfaceJson,
          credentialId,
          trustRuleId,
          attestationBytes: 0,
        })
        .execute();
    },
  ),

  setPluginAbout: statement(
    { audit: true, invalidates: nothing },
    (db: Db, key: PluginKey, { description, homepage, readme }: PluginAbout) =>
      updatePlugin(db, key).set({ description, homepage, readme }),
  ),

  /** Blocks a plugin, or unblocks it. */
  blockPlugin: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, key: PluginKey, block: BlockRecord | null) => updatePlugin(db, key).set({ block }),
  ),

  /** Stores the progress of a rebind that continues in further transactions. */
  putPendingRebind: statement(
    { audit: false, invalidates: nothing },
    (db: Db, key: PluginKey, { after, selection }: PendingRebind) =>
      updatePlugin(db, key).set({ pendingRebind: { after, selection } }),
  ),

  /** Ends a rebind, and makes the application's hosts fetch all lists again. */
  endPendingRebind: statement(
    {
      audit: false,
      invalidates: nothing,
      changes: (changed, db, key) => changed.reset(db, key.extensionPointId),
      usesDiskReserve: true,
    },
    (db: Db, key: PluginKey) => updatePlugin(db, key).set({ pendingRebind: null }),
  ),

  /** Also deletes its versions and bindings, but not the blobs. */
  deletePlugin: statement(
    {
      audit: true,
      invalidates: () => [allContentsTag],
      changes: (changed, db, key) => changed.addBound(db, key),
      usesDiskReserve: true,
    },
    (db: Db, key: PluginKey) => db.deleteFrom('plugins').where(isOfPlugin('plugins', key)),
  ),
};

/** A subquery for the extension point's application. */
function appOf(db: Db, { extensionPointId }: PluginKey) {
  return db.selectFrom('extension_points').select('appId').where('id', '=', extensionPointId).$asScalar().$notNull();
}

async function insertPlugin(db: Db, version: VersionRecord): Promise<void> {
  // With `on conflict`, PostgreSQL reports a plugin that a concurrent transaction inserted as a serialization failure, which is retried.
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('plugins')
    .values({
      extensionPointId: version.extensionPointId,
      userId: version.userId,
      name: version.name,
      sortKey: naturalKey(version.name),
      appId: appOf(db, version),
      lastNumber: version.number,
      bytes: version.size,
      createdAtMs: version.createdAtMs,
      publishChargedUntilMs: 0,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) throw new ConflictError('Cannot add version 1: the plugin exists.');
}

async function updateLastNumber(db: Db, version: VersionRecord): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('plugins')
    .set(({ eb }) => ({ lastNumber: version.number, bytes: eb('bytes', '+', version.size) }))
    .where(isOfPlugin('plugins', version))
    .where('lastNumber', '=', version.number - 1)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) {
    throw new ConflictError(`Cannot add version ${version.number}: it is not the one after the plugin's last.`);
  }
}
