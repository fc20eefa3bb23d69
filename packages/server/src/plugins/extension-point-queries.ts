import type { AppId, ExtensionPointId } from '@tenon/protocol';
import { allContentsTag } from '../cache/cache-tag.ts';
import type { Db } from '../db/db.ts';
import { nothing, statement } from '../db/mutation.ts';
import { paged } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import { columns, type ExtensionPointChange, type ExtensionPointRecord } from '../db/records.ts';

function extensionPointsNotDeleted(db: Db) {
  return db.selectFrom('extension_points').select(columns.extensionPoints).where('deletedAtMs', 'is', null);
}

export const extensionPointQueries = {
  extensionPoint: (db: Db, id: ExtensionPointId): Promise<ExtensionPointRecord | undefined> =>
    extensionPointsNotDeleted(db).where('id', '=', id).executeTakeFirst(),

  extensionPoints: (db: Db, appId: AppId, page: Page): Promise<ExtensionPointRecord[]> =>
    paged(extensionPointsNotDeleted(db).where('appId', '=', appId), 'id', page).execute(),
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
