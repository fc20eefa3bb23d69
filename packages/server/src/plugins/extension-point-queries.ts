import type { AppId, ExtensionPointId, UserId } from '@tenon/protocol';
import { allContentsTag } from '../cache/cache-tag.ts';
import type { Db } from '../db/db.ts';
import { nothing, statement } from '../db/mutation.ts';
import { contains, countMatches, equals, nameOrders, sorted } from '../db/page-queries.ts';
import type { NameSort, SortedPage } from '../db/query-types.ts';
import { columns, type ExtensionPointChange, type ExtensionPointRecord } from '../db/records.ts';

function extensionPointsNotDeleted(db: Db) {
  return db.selectFrom('extension_points').select(columns.extensionPoints).where('deletedAtMs', 'is', null);
}

const orders = nameOrders('extension_points');

/** An extension point, those of an application, or those with plugins of a user. */
type BindingsScope =
  | { readonly extensionPointId: ExtensionPointId }
  | { readonly appId: AppId }
  | { readonly userId: UserId };

function extensionPointsFound(db: Db, appId: AppId, text: string | undefined) {
  const points = extensionPointsNotDeleted(db).where('appId', '=', appId);
  if (text === undefined) return points;
  return points.where((eb) => eb.or([contains('extension_points.name', text), equals('extension_points.id', text)]));
}

export const extensionPointQueries = {
  extensionPoint: (db: Db, id: ExtensionPointId): Promise<ExtensionPointRecord | undefined> =>
    extensionPointsNotDeleted(db).where('id', '=', id).executeTakeFirst(),

  extensionPoints: (db: Db, appId: AppId, page: SortedPage<NameSort>, text?: string): Promise<ExtensionPointRecord[]> =>
    sorted(extensionPointsFound(db, appId, text), orders, page, 'createdAt').execute(),

  /** Returns when bindings of the extension point were last deleted; 0 for never. */
  async bindingsDeletedAtMs(db: Db, id: ExtensionPointId): Promise<number> {
    const row = await db
      .selectFrom('extension_points')
      .select('bindingsDeletedAtMs')
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.bindingsDeletedAtMs ?? 0;
  },

  countExtensionPointsFound: (db: Db, appId: AppId, text: string | undefined): Promise<number> =>
    countMatches(db, extensionPointsFound(db, appId, text)),
};

export const extensionPointMutations = {
  insertExtensionPoint: statement(
    { audit: true, invalidates: nothing },
    (db: Db, extensionPoint: ExtensionPointRecord) => db.insertInto('extension_points').values(extensionPoint),
  ),

  updateExtensionPoint: statement(
    { audit: true, invalidates: (id) => [id] },
    (db: Db, id: ExtensionPointId, change: ExtensionPointChange) =>
      db.updateTable('extension_points').set(change).where('id', '=', id),
  ),

  /** Stores when bindings are deleted. The event of what is deleted describes it. */
  noteDeletedBindings: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, scope: BindingsScope, atMs: number) => {
      const points = db.updateTable('extension_points').set({ bindingsDeletedAtMs: atMs });
      if ('extensionPointId' in scope) return points.where('id', '=', scope.extensionPointId);
      if ('appId' in scope) return points.where('appId', '=', scope.appId);
      const { userId } = scope;
      return points.where('id', 'in', db.selectFrom('plugins').select('extensionPointId').where('userId', '=', userId));
    },
  ),

  /** Also deletes its plugins, versions and bindings, but not the blobs. */
  deleteExtensionPoint: statement(
    {
      audit: true,
      invalidates: (id) => [id, allContentsTag],
      changes: (changed, db, id) => changed.addDeleted(db, id),
      usesDiskReserve: true,
    },
    (db: Db, id: ExtensionPointId) => db.deleteFrom('extension_points').where('id', '=', id),
  ),
};
