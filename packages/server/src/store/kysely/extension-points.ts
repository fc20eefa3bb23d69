import type { Mutations, Queries } from '../../domain/ports.ts';
import { paged } from './paging.ts';
import type { Db } from './schema.ts';

const columns = [
  'id',
  'app_id as appId',
  'name',
  'schema_json as schemaJson',
  'created_at_ms as createdAtMs',
  'updated_at_ms as updatedAtMs',
] as const;

export function extensionPointQueries(db: Db): Pick<Queries, 'extensionPoint' | 'extensionPoints'> {
  return {
    extensionPoint: (id) => db.selectFrom('extension_points').select(columns).where('id', '=', id).executeTakeFirst(),
    extensionPoints(appId, page) {
      const extensionPoints = db.selectFrom('extension_points').select(columns).where('app_id', '=', appId);
      return paged(extensionPoints, 'id', page).execute();
    },
  };
}

export function extensionPointMutations(
  db: Db,
): Pick<Mutations, 'insertExtensionPoint' | 'updateExtensionPoint' | 'deleteExtensionPoint'> {
  return {
    async insertExtensionPoint({ id, appId, name, schemaJson, createdAtMs, updatedAtMs }) {
      await db
        .insertInto('extension_points')
        .values({
          id,
          app_id: appId,
          name,
          schema_json: schemaJson,
          created_at_ms: createdAtMs,
          updated_at_ms: updatedAtMs,
        })
        .execute();
    },
    async updateExtensionPoint(id, { name, schemaJson, updatedAtMs }) {
      await db
        .updateTable('extension_points')
        .set({ name, schema_json: schemaJson, updated_at_ms: updatedAtMs })
        .where('id', '=', id)
        .execute();
    },
    async deleteExtensionPoint(id) {
      await db.deleteFrom('extension_points').where('id', '=', id).execute();
    },
  };
}
