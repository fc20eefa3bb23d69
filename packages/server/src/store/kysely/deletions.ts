import type { AppId, ExtensionPointId, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { DeletionMutations, DeletionQueries, DeletionScope } from '../../domain/deletions/ports.ts';
import type { PluginKey } from '../../domain/records.ts';
import type { Db } from './schema.ts';

/*
 * What a plugin, an extension point, or an application has very many rows of is deleted in pieces, each of so many rows of one table:
 * other writers wait for a transaction. Tables that refer to others come first, so that no piece cascades far.
 */

export function deletionQueries(db: Db): DeletionQueries {
  return {
    async hasMoreRows(scope, limit) {
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
        .where('app_id', '=', scope.appId)
        .where('guest_keys_json', 'is not', null)
        .limit(1)
        .offset(limit)
        .execute();
      return events.length > 0;
    },
    async pendingDeletions(limit) {
      const [apps, extensionPoints] = await Promise.all([
        db.selectFrom('apps').select('id').where('deleted_at_ms', 'is not', null).limit(limit).execute(),
        db.selectFrom('extension_points').select('id').where('deleted_at_ms', 'is not', null).limit(limit).execute(),
      ]);
      return [...extensionPoints.map(({ id }) => ({ extensionPointId: id })), ...apps.map(({ id }) => ({ appId: id }))];
    },
  };
}

export function deletionMutations(db: Db): DeletionMutations {
  return {
    async markPluginDeleted({ extensionPointId, userId, name }, atMs) {
      await markDeleted(db, atMs)
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .execute();
    },
    markPluginsDeleted: (userId, atMs) =>
      markDeleted(db, atMs)
        .where('user_id', '=', userId)
        .returning(['extension_point_id as extensionPointId', 'user_id as userId', 'name'])
        .execute(),
    async markExtensionPointDeleted(id, atMs) {
      await db.updateTable('extension_points').set({ deleted_at_ms: atMs }).where('id', '=', id).execute();
    },
    async markAppDeleted(id, atMs) {
      await db.updateTable('apps').set({ deleted_at_ms: atMs }).where('id', '=', id).execute();
      await db.deleteFrom('tokens').where('app_id', '=', id).execute();
    },
    async purgeRows(scope, limit) {
      for (const { table, key, rows } of dependents(scope)) {
        const columns = sql.join(key.map((column) => sql.ref(column)));
        const { numAffectedRows = 0n } = await sql`
          delete from ${sql.table(table)}
          where (${columns}) in (select ${columns} from ${sql.table(table)} where ${rows} limit ${sql.lit(limit)})
        `.execute(db);
        if (numAffectedRows > 0n) return false;
      }
      return !('appId' in scope) || (await forgetGuestKeys(db, scope.appId, limit));
    },
    async forgetDeleted(scope) {
      if ('appId' in scope) await db.deleteFrom('apps').where('id', '=', scope.appId).execute();
      else if ('name' in scope) await sql`delete from plugins where ${isOfPlugin(scope)}`.execute(db);
      else await db.deleteFrom('extension_points').where('id', '=', scope.extensionPointId).execute();
    },
  };
}

function markDeleted(db: Db, atMs: number) {
  const pending = JSON.stringify({ after: '', selection: null });
  return db.updateTable('plugins').set({ deleted_at_ms: atMs, pending_rebind_json: pending });
}

/** An application's audit trail stays for the accounts that are in it, without the guest keys. @returns whether none is left */
async function forgetGuestKeys(db: Db, appId: AppId, limit: number): Promise<boolean> {
  const withKeys = db
    .selectFrom('audit_events')
    .select('id')
    .where('app_id', '=', appId)
    .where('guest_keys_json', 'is not', null)
    .limit(limit);
  const { numUpdatedRows } = await db
    .updateTable('audit_events')
    .set({ guest_keys_json: null })
    .where('id', 'in', withKeys)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 0n;
}

/** A table with rows that belong to something, the columns of its key, and which rows these are. */
interface Dependents {
  readonly table: 'bindings' | 'version_guests' | 'versions' | 'plugins' | 'invitations' | 'guests' | 'news';
  readonly key: readonly string[];
  readonly rows: ReturnType<typeof sql<boolean>>;
}

function dependents(scope: DeletionScope | { readonly userId: UserId }): readonly Dependents[] {
  if ('appId' in scope) return ofApp(scope.appId);
  if ('name' in scope) return dependentsOfPlugins(isOfPlugin(scope));
  return 'extensionPointId' in scope ? ofExtensionPoint(scope.extensionPointId) : ofUser(scope.userId);
}

function ofUser(id: UserId): readonly Dependents[] {
  const plugins = sql`select extension_point_id, user_id, name from plugins where user_id = ${id}`;
  return dependentsOfPlugins(sql<boolean>`(extension_point_id, user_id, name) in (${plugins})`);
}

function isOfPlugin({ extensionPointId, userId, name }: PluginKey) {
  return sql<boolean>`extension_point_id = ${extensionPointId} and user_id = ${userId} and name = ${name}`;
}

function ofExtensionPoint(id: ExtensionPointId): readonly Dependents[] {
  const of = sql<boolean>`extension_point_id = ${id}`;
  return [...dependentsOfPlugins(of), { table: 'plugins', key: ['extension_point_id', 'user_id', 'name'], rows: of }];
}

function ofApp(id: AppId): readonly Dependents[] {
  const of = sql<boolean>`extension_point_id in (select id from extension_points where app_id = ${id})`;
  const rows = sql<boolean>`app_id = ${id}`;
  return [
    ...dependentsOfPlugins(of),
    { table: 'plugins', key: ['extension_point_id', 'user_id', 'name'], rows: of },
    { table: 'invitations', key: ['id'], rows },
    { table: 'guests', key: ['id'], rows },
    { table: 'news', key: ['app_id', 'serial'], rows },
  ];
}

function dependentsOfPlugins(of: ReturnType<typeof sql<boolean>>): readonly Dependents[] {
  return [
    { table: 'bindings', key: ['extension_point_id', 'guest_id', 'name'], rows: of },
    {
      table: 'version_guests',
      key: ['version_id', 'guest_id'],
      rows: sql<boolean>`version_id in (select id from versions where ${of})`,
    },
    { table: 'versions', key: ['id'], rows: of },
  ];
}
