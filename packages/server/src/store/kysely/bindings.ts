import type { GuestId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { ConflictError, type Mutations, type Queries } from '../../domain/ports.ts';
import { type BindingRecord, type BoundRecord, columns, type PluginKey } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { inChunks, paged, setOf } from './paging.ts';

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
        .where('bindings.extensionPointId', '=', extensionPointId)
        // Not a join: the planner would go through all bindings of the extension point, and look whose they are.
        .where('bindings.guestId', '=', (eb) =>
          eb
            .selectFrom('extension_points')
            .innerJoin('guests', 'guests.appId', 'extension_points.appId')
            .select('guests.id')
            .where('extension_points.id', '=', extensionPointId)
            .where('guests.guestKey', '=', guestKey),
        )
        .where('bindings.versionId', 'is not', null)
        .$castTo<BoundRecord>()
        .execute(),
    binding: (extensionPointId, guestId, name) =>
      bindingsWithVersions(db)
        .where('bindings.extensionPointId', '=', extensionPointId)
        .where('bindings.guestId', '=', guestId)
        .where('bindings.name', '=', name)
        .executeTakeFirst(),
    bindingsOfGuest(extensionPointId, guestId, page) {
      const bindings = bindingsWithVersions(db)
        .innerJoin('plugins', (join) =>
          join
            .onRef('plugins.extensionPointId', '=', 'bindings.extensionPointId')
            .onRef('plugins.userId', '=', 'bindings.userId')
            .onRef('plugins.name', '=', 'bindings.name'),
        )
        .innerJoin('users', 'users.id', 'bindings.userId')
        .select(['users.name as userName', 'plugins.block'])
        .where('bindings.extensionPointId', '=', extensionPointId)
        .where('bindings.guestId', '=', guestId);
      return paged(bindings, 'bindings.name', page).execute();
    },
    bindingsOfPlugins: (keys, limit) => inChunks(keys, (chunk, left) => bindingsOf(db, chunk, left), limit),
    guestsWithNameTaken: (key, guestIds) => namesTaken(db, key, guestIds),
    async guestsWithoutRoom({ extensionPointId, userId, name }, guestIds, maxNames) {
      const rows = await db
        .selectFrom('bindings')
        .select('guestId')
        .where('extensionPointId', '=', extensionPointId)
        .where('guestId', 'in', setOf(guestIds))
        .groupBy('guestId')
        .having(({ fn }) => fn.countAll<number>(), '>=', maxNames)
        .having(sql<number>`max(case when "userId" = ${userId} and name = ${name} then 1 else 0 end)`, '=', 0)
        .orderBy('guestId')
        .execute();
      return rows.map(({ guestId }) => guestId);
    },
    async isPinned({ extensionPointId, userId, name }) {
      const found = await db
        .selectFrom('versions')
        .innerJoin('bindings', 'bindings.pinnedVersionId', 'versions.id')
        .select('versions.id')
        .where('versions.extensionPointId', '=', extensionPointId)
        .where('versions.userId', '=', userId)
        .where('versions.name', '=', name)
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },
    async isRolledBack({ extensionPointId, userId, name }, guestIds) {
      const found = await db
        .selectFrom('bindings')
        .select('guestId')
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
        .where('name', '=', name)
        .where('selectedVersionId', 'is not', null)
        .where('guestId', 'in', setOf(guestIds))
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },
    async countBindings(extensionPointId, guestId) {
      const { count } = await db
        .selectFrom('bindings')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('extensionPointId', '=', extensionPointId)
        .where('guestId', '=', guestId)
        .executeTakeFirstOrThrow();
      return count;
    },
  };
}

async function namesTaken(db: Db, { extensionPointId, userId, name }: PluginKey, guestIds: readonly GuestId[]) {
  const rows = await db
    .selectFrom('bindings')
    .select('guestId')
    .where('extensionPointId', '=', extensionPointId)
    .where('guestId', 'in', setOf(guestIds))
    .where('name', '=', name)
    .where('userId', '!=', userId)
    .orderBy('guestId')
    .execute();
  return rows.map(({ guestId }) => guestId);
}

function bindingsOf(db: Db, keys: readonly PluginKey[], limit: number | undefined): Promise<BindingRecord[]> {
  const rows = keys.map((key) => sql`(${key.extensionPointId}, ${key.userId}, ${key.name})`);
  const columns = sql`(bindings."extensionPointId", bindings."userId", bindings.name)`;
  // Of one plugin the index has the rows in their order; of a set, all are read and sorted before the limit counts.
  const [only] = rows;
  const are =
    rows.length === 1 ? sql<boolean>`${columns} = ${only}` : sql<boolean>`${columns} in (values ${sql.join(rows)})`;
  const bindings = bindingsWithVersions(db).where(are);
  if (limit === undefined) return bindings.execute();
  return bindings
    .orderBy('bindings.extensionPointId')
    .orderBy('bindings.userId')
    .orderBy('bindings.name')
    .orderBy('bindings.guestId')
    .limit(limit)
    .execute();
}

function bindingsWithVersions(db: Db) {
  return db
    .selectFrom('bindings')
    .leftJoin('versions', 'versions.id', 'bindings.versionId')
    .leftJoin('versions as pinned', 'pinned.id', 'bindings.pinnedVersionId')
    .leftJoin('versions as selected', 'selected.id', 'bindings.selectedVersionId')
    .select(columns.bindings)
    .select([
      'versions.number as versionNumber',
      'versions.contentAddress',
      'pinned.number as pinnedNumber',
      'selected.number as selectedNumber',
    ]);
}

export function bindingMutations(
  db: Db,
): Pick<Mutations, 'claimName' | 'moveBindings' | 'pinVersion' | 'selectVersion'> {
  const claimsOf = ({ extensionPointId, userId, name }: PluginKey) =>
    db
      .updateTable('bindings')
      .where('extensionPointId', '=', extensionPointId)
      .where('name', '=', name)
      .where('userId', '=', userId);
  return {
    async claimName(key, guestIds) {
      const { extensionPointId, userId, name } = key;
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into bindings ("extensionPointId", "guestId", name, "userId", "updatedAtMs")
        select ${extensionPointId}, key, ${name}, ${userId}, 0 from ${setOf(guestIds)} as claims where true
        on conflict ("extensionPointId", "guestId", name) do nothing
      `.execute(db);
      const [taken] = await namesTaken(db, key, guestIds);
      if (taken !== undefined)
        throw new ConflictError(`Cannot claim "${name}": the name is another user's under the guest ${taken}.`);
    },
    async moveBindings(key, guests, { versionId, nowMs }) {
      await demandOwnVersion(db, key, versionId);
      const ids = guests.map(({ id }) => id);
      await claimsOf(key)
        .where('guestId', 'in', setOf(ids))
        .set({
          versionId,
          updatedAtMs: sql<number>`case when "updatedAtMs" < ${nowMs} then ${nowMs} else "updatedAtMs" + 1 end`,
        })
        .execute();
    },
    async pinVersion({ guestId, ...key }, versionId) {
      await demandOwnVersion(db, key, versionId);
      await claimsOf(key).where('guestId', '=', guestId).set({ pinnedVersionId: versionId }).execute();
    },
    async selectVersion(key, guestIds, versionId) {
      await demandOwnVersion(db, key, versionId);
      const claims = claimsOf(key).where('guestId', 'in', setOf(guestIds)).set({ selectedVersionId: versionId });
      await (versionId === null ? claims.where('selectedVersionId', 'is not', null) : claims).execute();
    },
  };
}

async function demandOwnVersion(db: Db, key: PluginKey, versionId: VersionId | null): Promise<void> {
  if (versionId === null) return;
  const version = await db
    .selectFrom('versions')
    .select('id')
    .where('id', '=', versionId)
    .where('extensionPointId', '=', key.extensionPointId)
    .where('userId', '=', key.userId)
    .where('name', '=', key.name)
    .executeTakeFirst();
  if (version === undefined)
    throw new Error(`Cannot bind "${key.name}" to ${versionId}: it is no version of the plugin.`);
}
