import type { AppId, ExtensionPointId, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import { deleteAuditSalts } from '../audit/chain-queries.ts';
import { allContentsTag } from '../cache/cache-tag.ts';
import { type Db, isOfPlugin } from '../db/db.ts';
import type { DeletionScope } from '../db/deletion-scope.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import type { PluginKey } from '../db/records.ts';

/*
 * Large deletions run in batches, because other writers wait for a transaction. A batch deletes rows of one table. Tables that refer to
 * others come first, so that no batch cascades to many rows.
 */

export const deletionQueries = {
  /** Whether more than `limit` rows of some table belong to an entity, or to a user's plugins. */
  async hasMoreRows(db: Db, scope: DeletionScope | { readonly userId: UserId }, limit: number): Promise<boolean> {
    for (const { table, rows } of dependents(scope)) {
      const { rows: found } = await sql`
          select 1 from ${sql.table(table)} where ${rows} limit 1 offset ${sql.lit(limit)}
        `.execute(db);
      if (found.length > 0) return true;
    }
    if (!('appId' in scope)) return false;
    const events = await db
      .selectFrom('audit_events')
      .select('id')
      .where('appId', '=', scope.appId)
      .where('guestKeys', 'is not', null)
      .limit(1)
      .offset(limit)
      .execute();
    return events.length > 0;
  },

  /** The extension points and applications that are marked as deleted. */
  async pendingDeletions(db: Db, limit: number): Promise<Exclude<DeletionScope, PluginKey>[]> {
    const [apps, extensionPoints] = await Promise.all([
      db.selectFrom('apps').select('id').where('deletedAtMs', 'is not', null).limit(limit).execute(),
      db.selectFrom('extension_points').select('id').where('deletedAtMs', 'is not', null).limit(limit).execute(),
    ]);
    return [...extensionPoints.map(({ id }) => ({ extensionPointId: id })), ...apps.map(({ id }) => ({ appId: id }))];
  },
};

export const deletionMutations = {
  /** Also marks its bindings as pending. `finishRebind()` moves them, and then deletes the plugin. */
  markPluginDeleted: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, key: PluginKey, atMs: number) => markDeleted(db, atMs).where(isOfPlugin('plugins', key)),
  ),

  /** As `markPluginDeleted`, for all plugins of a user. @returns these plugins */
  markPluginsDeleted: mutation(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, userId: UserId, atMs: number): Promise<PluginKey[]> =>
      markDeleted(db, atMs).where('userId', '=', userId).returning(['extensionPointId', 'userId', 'name']).execute(),
  ),

  markExtensionPointDeleted: statement(
    {
      audit: true,
      invalidates: (id) => [id, allContentsTag],
      changes: (changed, db, id) => changed.addDeleted(db, id),
      usesDiskReserve: true,
    },
    (db: Db, id: ExtensionPointId, atMs: number) =>
      db.updateTable('extension_points').set({ deletedAtMs: atMs }).where('id', '=', id),
  ),

  /** Also deletes the tokens that are restricted to the application, and disables its webhooks. */
  markAppDeleted: mutation(
    { audit: true, invalidates: (id) => [id, allContentsTag], usesDiskReserve: true },
    async (db: Db, id: AppId, atMs: number): Promise<void> => {
      await db.updateTable('apps').set({ deletedAtMs: atMs }).where('id', '=', id).execute();
      await db.deleteFrom('tokens').where('appId', '=', id).execute();
      await db.updateTable('webhooks').set({ state: 'disabled' }).where('appId', '=', id).execute();
    },
  ),

  /** Deletes at most `limit` of the rows that belong to a deleted entity. @returns whether all are deleted */
  purgeRows: mutation(
    // The audit event was recorded when the entity was marked as deleted.
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, scope: DeletionScope, limit: number): Promise<boolean> => {
      for (const { table, key, rows } of dependents(scope)) {
        const columns = sql.join(key.map((column) => sql.ref(column)));
        const { numAffectedRows = 0n } = await sql`
          delete from ${sql.table(table)}
          where (${columns}) in (select ${columns} from ${sql.table(table)} where ${rows} limit ${sql.lit(limit)})
        `.execute(db);
        if (numAffectedRows > 0n) return false;
      }
      return !('appId' in scope) || (await eraseGuestKeys(db, scope.appId, limit));
    },
  ),

  /** Deletes the row of a deleted entity, after `purgeRows` has deleted all others. */
  purgeDeleted: mutation(
    { audit: false, invalidates: () => [allContentsTag], usesDiskReserve: true },
    async (db: Db, scope: DeletionScope): Promise<void> => {
      if ('appId' in scope) await db.deleteFrom('apps').where('id', '=', scope.appId).execute();
      else if ('name' in scope) await db.deleteFrom('plugins').where(isOfPlugin('plugins', scope)).execute();
      else await db.deleteFrom('extension_points').where('id', '=', scope.extensionPointId).execute();
    },
  ),
};

function markDeleted(db: Db, atMs: number) {
  const pendingRebind = { after: '', selection: null };
  return db.updateTable('plugins').set({ deletedAtMs: atMs, pendingRebind });
}

/** Removes guest keys from at most `limit` audit events of an application. @returns whether no event has any */
async function eraseGuestKeys(db: Db, appId: AppId, limit: number): Promise<boolean> {
  const withKeys = db
    .selectFrom('audit_events')
    .select('id')
    .where('appId', '=', appId)
    .where('guestKeys', 'is not', null)
    .orderBy('id')
    .limit(limit);
  await deleteAuditSalts(db, ['guestsSalt'], withKeys);
  const { numUpdatedRows } = await db
    .updateTable('audit_events')
    .set({ guestKeys: null })
    .where('id', 'in', withKeys)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 0n;
}

/** The rows of a table that belong to an entity, and the columns of the table's key. */
interface Dependents {
  readonly table:
    | 'bindings'
    | 'version_guests'
    | 'simulation_runs'
    | 'similar_names'
    | 'oci_uploads'
    | 'blocked_publishers'
    | 'versions'
    | 'plugins'
    | 'invitations'
    | 'guests'
    | 'change_events'
    | 'webhook_deliveries'
    | 'call_reports'
    | 'usage_subjects'
    | 'usage_days';
  readonly key: readonly string[];
  readonly rows: ReturnType<typeof sql<boolean>>;
}

function dependents(scope: DeletionScope | { readonly userId: UserId }): readonly Dependents[] {
  if ('appId' in scope) return ofApp(scope.appId);
  if ('name' in scope) return ofPlugin(scope);
  return 'extensionPointId' in scope ? ofExtensionPoint(scope.extensionPointId) : ofUser(scope.userId);
}

function ofUser(id: UserId): readonly Dependents[] {
  const plugins = sql`select "extensionPointId", "userId", name from plugins where "userId" = ${id}`;
  return dependentsOfPlugins(sql<boolean>`("extensionPointId", "userId", name) in (${plugins})`);
}

function ofPlugin({ extensionPointId, userId, name }: PluginKey): readonly Dependents[] {
  return dependentsOfPlugins(
    sql<boolean>`"extensionPointId" = ${extensionPointId} and "userId" = ${userId} and name = ${name}`,
  );
}

function ofExtensionPoint(id: ExtensionPointId): readonly Dependents[] {
  const of = sql<boolean>`"extensionPointId" = ${id}`;
  return [...dependentsOfPlugins(of), { table: 'plugins', key: ['extensionPointId', 'userId', 'name'], rows: of }];
}

function ofApp(id: AppId): readonly Dependents[] {
  const of = sql<boolean>`"extensionPointId" in (select id from extension_points where "appId" = ${id})`;
  const rows = sql<boolean>`"appId" = ${id}`;
  return [
    ...usageOf(rows),
    ...dependentsOfPlugins(of),
    { table: 'plugins', key: ['extensionPointId', 'userId', 'name'], rows: of },
    { table: 'invitations', key: ['id'], rows },
    { table: 'blocked_publishers', key: ['appId', 'userId'], rows },
    { table: 'guests', key: ['id'], rows },
    { table: 'change_events', key: ['appId', 'serial'], rows },
    {
      table: 'webhook_deliveries',
      key: ['id'],
      rows: sql<boolean>`"webhookId" in (select id from webhooks where ${rows})`,
    },
  ];
}

function dependentsOfPlugins(of: ReturnType<typeof sql<boolean>>): readonly Dependents[] {
  return [
    ...usageOf(of),
    { table: 'bindings', key: ['extensionPointId', 'guestId', 'name'], rows: of },
    {
      table: 'version_guests',
      key: ['versionId', 'guestId'],
      rows: sql<boolean>`"versionId" in (select id from versions where ${of})`,
    },
    {
      table: 'simulation_runs',
      key: ['id'],
      rows: sql<boolean>`"versionId" in (select id from versions where ${of})`,
    },
    {
      table: 'call_reports',
      key: ['versionId', 'series', 'kind', 'fromMs'],
      rows: sql<boolean>`"versionId" in (select id from versions where ${of})`,
    },
    { table: 'versions', key: ['id'], rows: of },
    { table: 'oci_uploads', key: ['id'], rows: of },
    { table: 'similar_names', key: ['extensionPointId', 'userId', 'name', 'otherUserId', 'otherName'], rows: of },
  ];
}

function usageOf(of: ReturnType<typeof sql<boolean>>): readonly Dependents[] {
  const rows = sql<boolean>`"subjectId" in (select id from usage_subjects where ${of})`;
  return [
    { table: 'usage_days', key: ['subjectId', 'dayMs'], rows },
    { table: 'usage_subjects', key: ['id'], rows: of },
  ];
}
