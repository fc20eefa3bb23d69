import { sql } from 'kysely';
import { ConflictError, type Mutations, type Queries } from '../../domain/ports.ts';
import type { BindingRecord, PluginKey } from '../../domain/records.ts';
import { inChunks } from './paging.ts';
import type { Db } from './schema.ts';

export function bindingQueries(db: Db): Pick<Queries, 'bindings' | 'binding' | 'bindingsOfPlugins' | 'countBindings'> {
  return {
    bindings: (extensionPointId, guestKey) =>
      bindingsWithContent(db)
        .where('bindings.extension_point_id', '=', extensionPointId)
        // Not a join: the planner would go through all bindings of the extension point, and look whose they are.
        .where('bindings.guest_id', '=', (eb) =>
          eb
            .selectFrom('extension_points')
            .innerJoin('guests', 'guests.app_id', 'extension_points.app_id')
            .select('guests.id')
            .where('extension_points.id', '=', extensionPointId)
            .where('guests.guest_key', '=', guestKey),
        )
        .execute(),
    binding: (extensionPointId, guestId, name) =>
      bindingsWithContent(db)
        .where('bindings.extension_point_id', '=', extensionPointId)
        .where('bindings.guest_id', '=', guestId)
        .where('bindings.name', '=', name)
        .executeTakeFirst(),
    bindingsOfPlugins: (keys) => inChunks(keys, (chunk) => bindingsOf(db, chunk)),
    async countBindings(extensionPointId, guestId) {
      const { count } = await db
        .selectFrom('bindings')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('extension_point_id', '=', extensionPointId)
        .where('guest_id', '=', guestId)
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}

function bindingsOf(db: Db, keys: readonly PluginKey[]): Promise<BindingRecord[]> {
  const rows = keys.map((key) => sql`(${key.extensionPointId}, ${key.userId}, ${key.name})`);
  const columns = sql`(bindings.extension_point_id, bindings.user_id, bindings.name)`;
  return bindingsWithContent(db)
    .where(sql<boolean>`${columns} in (values ${sql.join(rows)})`)
    .execute();
}

function bindingsWithContent(db: Db) {
  return db
    .selectFrom('bindings')
    .innerJoin('versions', 'versions.id', 'bindings.version_id')
    .select([
      'bindings.extension_point_id as extensionPointId',
      'bindings.user_id as userId',
      'bindings.name',
      'bindings.guest_id as guestId',
      'bindings.version_id as versionId',
      'versions.content_address as contentAddress',
      'bindings.updated_at_ms as updatedAtMs',
    ])
    .$castTo<BindingRecord>();
}

export function bindingMutations(db: Db): Pick<Mutations, 'putBinding'> {
  return {
    async putBinding(binding) {
      await demandOwnVersion(db, binding);
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('bindings')
        .values({
          extension_point_id: binding.extensionPointId,
          guest_id: binding.guestId,
          name: binding.name,
          user_id: binding.userId,
          version_id: binding.versionId,
          updated_at_ms: binding.updatedAtMs,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['extension_point_id', 'guest_id', 'name'])
            .doUpdateSet({ version_id: binding.versionId, updated_at_ms: binding.updatedAtMs })
            .where('bindings.user_id', '=', binding.userId),
        )
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) {
        throw new ConflictError(`Cannot bind "${binding.name}": the name is another user's under this guest.`);
      }
    },
  };
}

async function demandOwnVersion(db: Db, { versionId, ...key }: Omit<BindingRecord, 'contentAddress'>): Promise<void> {
  const version = await db
    .selectFrom('versions')
    .select('id')
    .where('id', '=', versionId)
    .where('extension_point_id', '=', key.extensionPointId)
    .where('user_id', '=', key.userId)
    .where('name', '=', key.name)
    .executeTakeFirst();
  if (version === undefined)
    throw new Error(`Cannot bind "${key.name}" to ${versionId}: it is no version of the plugin.`);
}
