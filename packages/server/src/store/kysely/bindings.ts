import type { GuestId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { ConflictError, type Mutations, type Queries } from '../../domain/ports.ts';
import type { BindingRecord, BoundRecord, PluginKey } from '../../domain/records.ts';
import { inChunks, paged, setOf } from './paging.ts';
import { blockColumns, blockOf } from './plugins.ts';
import type { Db } from './schema.ts';

export function bindingQueries(
  db: Db,
): Pick<
  Queries,
  | 'bindings'
  | 'binding'
  | 'bindingsOfGuest'
  | 'bindingsOfPlugins'
  | 'countBindings'
  | 'guestsWithNameTaken'
  | 'guestsWithoutRoom'
  | 'isPinned'
  | 'isRolledBack'
> {
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
    bindingsOfPlugins: (keys, limit) => inChunks(keys, (chunk, left) => bindingsOf(db, chunk, left), limit),
    guestsWithNameTaken: (key, guestIds) => namesTaken(db, key, guestIds),
    async guestsWithoutRoom({ extensionPointId, userId, name }, guestIds, maxNames) {
      const rows = await db
        .selectFrom('bindings')
        .select('guest_id')
        .where('extension_point_id', '=', extensionPointId)
        .where('guest_id', 'in', setOf(guestIds))
        .groupBy('guest_id')
        .having(({ fn }) => fn.countAll<number>(), '>=', maxNames)
        .having(sql<number>`max(case when user_id = ${userId} and name = ${name} then 1 else 0 end)`, '=', 0)
        .orderBy('guest_id')
        .execute();
      return rows.map(({ guest_id }) => guest_id);
    },
    async isPinned({ extensionPointId, userId, name }) {
      const found = await db
        .selectFrom('versions')
        .innerJoin('bindings', 'bindings.pinned_version_id', 'versions.id')
        .select('versions.id')
        .where('versions.extension_point_id', '=', extensionPointId)
        .where('versions.user_id', '=', userId)
        .where('versions.name', '=', name)
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },
    async isRolledBack({ extensionPointId, userId, name }, guestIds) {
      const found = await db
        .selectFrom('bindings')
        .select('guest_id')
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .where('selected_version_id', 'is not', null)
        .where('guest_id', 'in', setOf(guestIds))
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },
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

async function namesTaken(db: Db, { extensionPointId, userId, name }: PluginKey, guestIds: readonly GuestId[]) {
  const rows = await db
    .selectFrom('bindings')
    .select('guest_id')
    .where('extension_point_id', '=', extensionPointId)
    .where('guest_id', 'in', setOf(guestIds))
    .where('name', '=', name)
    .where('user_id', '!=', userId)
    .orderBy('guest_id')
    .execute();
  return rows.map(({ guest_id }) => guest_id);
}

function bindingsOf(db: Db, keys: readonly PluginKey[], limit: number | undefined): Promise<BindingRecord[]> {
  const rows = keys.map((key) => sql`(${key.extensionPointId}, ${key.userId}, ${key.name})`);
  const columns = sql`(bindings.extension_point_id, bindings.user_id, bindings.name)`;
  // Of one plugin the index has the rows in their order; of a set, all are read and sorted before the limit counts.
  const [only] = rows;
  const are =
    rows.length === 1 ? sql<boolean>`${columns} = ${only}` : sql<boolean>`${columns} in (values ${sql.join(rows)})`;
  const bindings = bindingsWithVersions(db).where(are);
  if (limit === undefined) return bindings.execute();
  return bindings
    .orderBy('bindings.extension_point_id')
    .orderBy('bindings.user_id')
    .orderBy('bindings.name')
    .orderBy('bindings.guest_id')
    .limit(limit)
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

export function bindingMutations(
  db: Db,
): Pick<Mutations, 'claimName' | 'moveBindings' | 'pinVersion' | 'selectVersion'> {
  const claimsOf = ({ extensionPointId, userId, name }: PluginKey) =>
    db
      .updateTable('bindings')
      .where('extension_point_id', '=', extensionPointId)
      .where('name', '=', name)
      .where('user_id', '=', userId);
  return {
    async claimName(key, guestIds) {
      const { extensionPointId, userId, name } = key;
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into bindings (extension_point_id, guest_id, name, user_id, updated_at_ms)
        select ${extensionPointId}, key, ${name}, ${userId}, 0 from ${setOf(guestIds)} as claims where true
        on conflict (extension_point_id, guest_id, name) do nothing
      `.execute(db);
      const [taken] = await namesTaken(db, key, guestIds);
      if (taken !== undefined)
        throw new ConflictError(`Cannot claim "${name}": the name is another user's under the guest ${taken}.`);
    },
    async moveBindings(key, guests, { versionId, nowMs }) {
      await demandOwnVersion(db, key, versionId);
      const ids = guests.map(({ id }) => id);
      await claimsOf(key)
        .where('guest_id', 'in', setOf(ids))
        .set({
          version_id: versionId,
          updated_at_ms: sql<number>`case when updated_at_ms < ${nowMs} then ${nowMs} else updated_at_ms + 1 end`,
        })
        .execute();
    },
    async pinVersion({ guestId, ...key }, versionId) {
      await demandOwnVersion(db, key, versionId);
      await claimsOf(key).where('guest_id', '=', guestId).set({ pinned_version_id: versionId }).execute();
    },
    async selectVersion(key, guestIds, versionId) {
      await demandOwnVersion(db, key, versionId);
      const claims = claimsOf(key).where('guest_id', 'in', setOf(guestIds)).set({ selected_version_id: versionId });
      await (versionId === null ? claims.where('selected_version_id', 'is not', null) : claims).execute();
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
