import type { AppId, ExtensionPointId } from '@tenon/protocol';
import { allContentsTag } from '../../cache/cache-tag.ts';
import type { Page } from '../../domain/query-types.ts';
import { columns, type ExtensionPointRecord } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { mutation, nothing } from './mutation.ts';
import { paged } from './paging.ts';

/** Those that are not deleted. */
function present(db: Db) {
  return db.selectFrom('extension_points').select(columns.extensionPoints).where('deletedAtMs', 'is', null);
}

export const extensionPointQueries = {
  extensionPoint: (db: Db, id: ExtensionPointId): Promise<ExtensionPointRecord | undefined> =>
    present(db).where('id', '=', id).executeTakeFirst(),

  extensionPoints: (db: Db, appId: AppId, page: Page): Promise<ExtensionPointRecord[]> =>
    paged(present(db).where('appId', '=', appId), 'id', page).execute(),
};

export const extensionPointMutations = {
  insertExtensionPoint: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, extensionPoint: ExtensionPointRecord): Promise<void> => {
      await db.insertInto('extension_points').values(extensionPoint).execute();
    },
  ),

  updateExtensionPoint: mutation(
    { audit: true, invalidates: (id) => [id] },
    async (
      db: Db,
      id: ExtensionPointId,
      {
        name,
        schemaJson,
        requiresApproval,
        limits,
        updatedAtMs,
      }: Pick<ExtensionPointRecord, 'name' | 'schemaJson' | 'requiresApproval' | 'limits' | 'updatedAtMs'>,
    ): Promise<void> => {
      await db
        .updateTable('extension_points')
        .set({ name, schemaJson, requiresApproval, limits, updatedAtMs })
        .where('id', '=', id)
        .execute();
    },
  ),

  /** Takes its plugins, versions and bindings with it; the bytes stay in the blob store. */
  deleteExtensionPoint: mutation(
    {
      audit: true,
      invalidates: (id) => [id, allContentsTag],
      changes: (changed, db, id) => changed.addDeleted(db, id),
      freesSpace: true,
    },
    async (db: Db, id: ExtensionPointId): Promise<void> => {
      await db.deleteFrom('extension_points').where('id', '=', id).execute();
    },
  ),
};
