import type { VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { type Claim, ConflictError, type Mutations, type Queries } from '../../domain/ports.ts';
import type { BindingRecord, BoundRecord, PluginKey } from '../../domain/records.ts';
import { inChunks, paged } from './paging.ts';
import { blockColumns, blockOf } from './plugins.ts';
import type { Db } from './schema.ts';

export function bindingQueries(
  db: Db,
): Pick<Queries, 'bindings' | 'binding' | 'bindingsOfGuest' | 'bindingsOfPlugins' | 'countBindings'> {
  return {
    bindings: (extensionPointId, guestKey) =>
      bindingsWithVersions(db)
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
        .where('bindings.version_id', 'is not', null)
        .$castTo<BoundRecord>()
        .execute(),
    binding: (extensionPointId, guestId, name) =>
      bindingsWithVersions(db)
        .where('bindings.extension_point_id', '=', extensionPointId)
        .where('bindings.guest_id', '=', guestId)
        .where('bindings.name', '=', name)
        .executeTakeFirst(),
    async bindingsOfGuest(extensionPointId, guestId, page) {
      const bindings = bindingsWithVersions(db)
        .innerJoin('plugins', (join) =>
          join
            .onRef('plugins.extension_point_id', '=', 'bindings.extension_point_id')
            .onRef('plugins.user_id', '=', 'bindings.user_id')
            .onRef('plugins.name', '=', 'bindings.name'),
        )
        .innerJoin('users', 'users.id', 'bindings.user_id')
        .select(['users.name as userName', ...blockColumns])
        .where('bindings.extension_point_id', '=', extensionPointId)
        .where('bindings.guest_id', '=', guestId);
      const rows = await paged(bindings, 'bindings.name', page).execute();
      return rows.map(({ blockedAtMs, blockReason, ...binding }) => ({
        ...binding,
        block: blockOf({ blockedAtMs, blockReason }),
      }));
    },
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
  return bindingsWithVersions(db)
    .where(sql<boolean>`${columns} in (values ${sql.join(rows)})`)
    .execute();
}

function bindingsWithVersions(db: Db) {
  return db
    .selectFrom('bindings')
    .leftJoin('versions', 'versions.id', 'bindings.version_id')
    .leftJoin('versions as pinned', 'pinned.id', 'bindings.pinned_version_id')
    .leftJoin('versions as selected', 'selected.id', 'bindings.selected_version_id')
    .select([
      'bindings.extension_point_id as extensionPointId',
      'bindings.user_id as userId',
      'bindings.name',
      'bindings.guest_id as guestId',
      'bindings.version_id as versionId',
      'versions.number as versionNumber',
      'versions.content_address as contentAddress',
      'bindings.pinned_version_id as pinnedVersionId',
      'pinned.number as pinnedNumber',
      'bindings.selected_version_id as selectedVersionId',
      'selected.number as selectedNumber',
      'bindings.updated_at_ms as updatedAtMs',
    ]);
}

export function bindingMutations(db: Db): Pick<Mutations, 'putBinding' | 'pinVersion' | 'selectVersion'> {
  const claimed = ({ extensionPointId, guestId, userId, name }: Claim) =>
    db
      .updateTable('bindings')
      .where('extension_point_id', '=', extensionPointId)
      .where('guest_id', '=', guestId)
      .where('name', '=', name)
      .where('user_id', '=', userId);
  return {
    async putBinding({ extensionPointId, guestId, userId, name, versionId, updatedAtMs }) {
      await demandOwnVersion(db, { extensionPointId, userId, name }, versionId);
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('bindings')
        .values({
          extension_point_id: extensionPointId,
          guest_id: guestId,
          name,
          user_id: userId,
          version_id: versionId,
          pinned_version_id: null,
          selected_version_id: null,
          updated_at_ms: updatedAtMs,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['extension_point_id', 'guest_id', 'name'])
            .doUpdateSet({ version_id: versionId, updated_at_ms: updatedAtMs })
            .where('bindings.user_id', '=', userId),
        )
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) {
        throw new ConflictError(`Cannot bind "${name}": the name is another user's under this guest.`);
      }
    },
    async pinVersion(claim, versionId) {
      await demandOwnVersion(db, claim, versionId);
      await claimed(claim).set({ pinned_version_id: versionId }).execute();
    },
    async selectVersion(claim, versionId) {
      await demandOwnVersion(db, claim, versionId);
      await claimed(claim).set({ selected_version_id: versionId }).execute();
    },
  };
}

async function demandOwnVersion(db: Db, key: PluginKey, versionId: VersionId | null): Promise<void> {
  if (versionId === null) return;
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
