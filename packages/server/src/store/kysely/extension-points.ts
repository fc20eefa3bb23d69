import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { paged } from './paging.ts';

/** Those that are not deleted. */
function present(db: Db) {
  return db.selectFrom('extension_points').select(columns.extensionPoints).where('deletedAtMs', 'is', null);
}

export function extensionPointQueries(db: Db): Pick<Queries, 'extensionPoint' | 'extensionPoints'> {
  return {
    extensionPoint: (id) => present(db).where('id', '=', id).executeTakeFirst(),
    extensionPoints: (appId, page) => paged(present(db).where('appId', '=', appId), 'id', page).execute(),
  };
}

export function extensionPointMutations(
  db: Db,
): Pick<Mutations, 'insertExtensionPoint' | 'updateExtensionPoint' | 'deleteExtensionPoint'> {
  return {
    async insertExtensionPoint(extensionPoint) {
      await db.insertInto('extension_points').values(extensionPoint).execute();
    },
    async updateExtensionPoint(id, { name, schemaJson, requiresApproval, limits, updatedAtMs }) {
      await db
        .updateTable('extension_points')
        .set({ name, schemaJson, requiresApproval, limits, updatedAtMs })
        .where('id', '=', id)
        .execute();
    },
    async deleteExtensionPoint(id) {
      await db.deleteFrom('extension_points').where('id', '=', id).execute();
    },
  };
}
