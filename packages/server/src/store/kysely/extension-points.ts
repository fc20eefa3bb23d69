import type { ExtensionPointLimits } from '@tenon/protocol';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { type ExtensionPointRecord, noLimits } from '../../domain/records.ts';
import { paged } from './paging.ts';
import type { Db } from './schema.ts';

const columns = [
  'id',
  'app_id as appId',
  'name',
  'schema_json as schemaJson',
  'requires_approval as requiresApproval',
  'limits_json as limitsJson',
  'created_at_ms as createdAtMs',
  'updated_at_ms as updatedAtMs',
] as const;

type Row = Omit<ExtensionPointRecord, 'requiresApproval' | 'limits'> & {
  readonly requiresApproval: number;
  readonly limitsJson: string;
};

function toRecord({ requiresApproval, limitsJson, ...row }: Row): ExtensionPointRecord {
  const limits = JSON.parse(limitsJson) as Partial<ExtensionPointLimits>;
  return { ...row, requiresApproval: requiresApproval !== 0, limits: { ...noLimits, ...limits } };
}

/** Those that are not deleted. */
function present(db: Db) {
  return db.selectFrom('extension_points').select(columns).where('deleted_at_ms', 'is', null);
}

export function extensionPointQueries(db: Db): Pick<Queries, 'extensionPoint' | 'extensionPoints'> {
  return {
    async extensionPoint(id) {
      const row = await present(db).where('id', '=', id).executeTakeFirst();
      return row && toRecord(row);
    },
    async extensionPoints(appId, page) {
      const extensionPoints = present(db).where('app_id', '=', appId);
      return (await paged(extensionPoints, 'id', page).execute()).map(toRecord);
    },
  };
}

export function extensionPointMutations(
  db: Db,
): Pick<Mutations, 'insertExtensionPoint' | 'updateExtensionPoint' | 'deleteExtensionPoint'> {
  return {
    async insertExtensionPoint({ id, appId, createdAtMs, ...fields }) {
      await db
        .insertInto('extension_points')
        .values({ id, app_id: appId, created_at_ms: createdAtMs, ...toColumns(fields) })
        .execute();
    },
    async updateExtensionPoint(id, change) {
      await db.updateTable('extension_points').set(toColumns(change)).where('id', '=', id).execute();
    },
    async deleteExtensionPoint(id) {
      await db.deleteFrom('extension_points').where('id', '=', id).execute();
    },
  };
}

function toColumns(change: Omit<ExtensionPointRecord, 'id' | 'appId' | 'createdAtMs'>) {
  return {
    name: change.name,
    schema_json: change.schemaJson,
    requires_approval: change.requiresApproval ? 1 : 0,
    limits_json: JSON.stringify(change.limits),
    updated_at_ms: change.updatedAtMs,
  };
}
