import type { ExtensionPointId, GuestId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { listTag } from '../cache/cache-tag.ts';
import { areOfSamePlugin, type Db, hasRow, isOfPlugin } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';
import { inChunks, paged, setOf } from '../db/page-queries.ts';
import type { BindingKey, BindingMove, GuestBinding, Page } from '../db/query-types.ts';
import { type BindingRecord, type BoundRecord, columns, type GuestRecord, type PluginKey } from '../db/records.ts';
import { ConflictError } from '../db/store-errors.ts';

export const bindingQueries = {
  /** What is bound under a guest key: in no particular order. Nothing for a key that no guest has. */
  bindings: (db: Db, extensionPointId: ExtensionPointId, guestKey: string): Promise<BoundRecord[]> =>
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

  /** The claim to a name under a guest. */
  binding: (
    db: Db,
    extensionPointId: ExtensionPointId,
    guestId: GuestId,
    name: string,
  ): Promise<BindingRecord | undefined> =>
    bindingsWithVersions(db)
      .where('bindings.extensionPointId', '=', extensionPointId)
      .where('bindings.guestId', '=', guestId)
      .where('bindings.name', '=', name)
      .executeTakeFirst(),

  /** The claims under a guest, by name in code-unit order, with what is known of the plugins. */
  bindingsOfGuest(db: Db, extensionPointId: ExtensionPointId, guestId: GuestId, page: Page): Promise<GuestBinding[]> {
    const bindings = bindingsWithVersions(db)
      .innerJoin('plugins', (join) => join.on(areOfSamePlugin('plugins', 'bindings')))
      .innerJoin('users', 'users.id', 'bindings.userId')
      .select(['users.name as userName', 'plugins.block'])
      .where('bindings.extensionPointId', '=', extensionPointId)
      .where('bindings.guestId', '=', guestId);
    return paged(bindings, 'bindings.name', page).execute();
  },

  /** The claims of these plugins to their names, under whatever guest; with `limit` at most so many, in the order of the plugins. */
  bindingsOfPlugins: (db: Db, keys: readonly PluginKey[], limit?: number): Promise<BindingRecord[]> =>
    inChunks(keys, (chunk, left) => bindingsOf(db, chunk, left), limit),

  guestsWithNameTaken,

  /** Of these guests: those that have at least so many names claimed, and not this one, by id. */
  async guestsWithoutRoom(
    db: Db,
    { extensionPointId, userId, name }: PluginKey,
    guestIds: readonly GuestId[],
    maxNames: number,
  ): Promise<GuestId[]> {
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

  /** Whether the plugin is held at a version under some guest. */
  isPinned: (db: Db, key: PluginKey): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('versions')
        .innerJoin('bindings', 'bindings.pinnedVersionId', 'versions.id')
        .select('versions.id')
        .where(isOfPlugin('versions', key)),
    ),

  /** Whether the plugin was rolled back under one of these guests. */
  isRolledBack: (db: Db, key: PluginKey, guestIds: readonly GuestId[]): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('bindings')
        .select('guestId')
        .where(isOfPlugin('bindings', key))
        .where('selectedVersionId', 'is not', null)
        .where('guestId', 'in', setOf(guestIds)),
    ),

  /** How many names are claimed under a guest. */
  async countBindings(db: Db, extensionPointId: ExtensionPointId, guestId: GuestId): Promise<number> {
    const { count } = await db
      .selectFrom('bindings')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('extensionPointId', '=', extensionPointId)
      .where('guestId', '=', guestId)
      .executeTakeFirstOrThrow();
    return count;
  },
};

/** Of these guests: those under which another user has claimed a name, by id. */
async function guestsWithNameTaken(
  db: Db,
  { extensionPointId, userId, name }: PluginKey,
  guestIds: readonly GuestId[],
): Promise<GuestId[]> {
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

const claimsOf = (db: Db, key: PluginKey) => db.updateTable('bindings').where(isOfPlugin('bindings', key));

export const bindingMutations = {
  /**
   * Claims the plugin's name under guests; nothing is bound by that. Claims that there are already stay as they are.
   *
   * @throws ConflictError when the name is another user's under one of them
   */
  putBindingKeys: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, key: PluginKey, guestIds: readonly GuestId[]): Promise<void> => {
      const { extensionPointId, userId, name } = key;
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into bindings ("extensionPointId", "guestId", name, "userId", "updatedAtMs")
        select ${extensionPointId}, key, ${name}, ${userId}, 0 from ${setOf(guestIds)} as claims where true
        on conflict ("extensionPointId", "guestId", name) do nothing
      `.execute(db);
      const [taken] = await guestsWithNameTaken(db, key, guestIds);
      if (taken !== undefined)
        throw new ConflictError(`Cannot claim "${name}": the name is another user's under the guest ${taken}.`);
    },
  ),

  /**
   * Has the claims under these guests bind a version of the plugin, or none. Each binds something else now. What a claim is
   * held at, or was rolled back to, stays. The time of each move is later than that of the one before it.
   */
  moveBindings: mutation(
    {
      // What is bound, and rolled back to, follows from what else is changed, which leaves the row.
      audit: false,
      invalidates: ({ extensionPointId }, guests) => guests.map(({ guestKey }) => listTag(extensionPointId, guestKey)),
      changes: (changed, db, { extensionPointId }, guests, move) =>
        move.notifiesEachList
          ? changed.addLists(
              db,
              extensionPointId,
              guests.map(({ guestKey }) => guestKey),
            )
          : undefined,
    },
    async (
      db: Db,
      key: PluginKey,
      guests: readonly Pick<GuestRecord, 'id' | 'guestKey'>[],
      { versionId, nowMs }: BindingMove,
    ): Promise<void> => {
      await assertOwnVersion(db, key, versionId);
      const ids = guests.map(({ id }) => id);
      await claimsOf(db, key)
        .where('guestId', 'in', setOf(ids))
        .set({
          versionId,
          updatedAtMs: sql<number>`case when "updatedAtMs" < ${nowMs} then ${nowMs} else "updatedAtMs" + 1 end`,
        })
        .execute();
    },
  ),

  /** Holds a claim at a version of the plugin; `null` takes that back. What it binds stays until it is moved. */
  pinVersion: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, { guestId, ...key }: BindingKey, versionId: VersionId | null): Promise<void> => {
      await assertOwnVersion(db, key, versionId);
      await claimsOf(db, key).where('guestId', '=', guestId).set({ pinnedVersionId: versionId }).execute();
    },
  ),

  /** Rolls claims back to a version of the plugin; `null` takes that back. What they bind stays until it is moved. */
  selectVersion: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, key: PluginKey, guestIds: readonly GuestId[], versionId: VersionId | null): Promise<void> => {
      await assertOwnVersion(db, key, versionId);
      const claims = claimsOf(db, key).where('guestId', 'in', setOf(guestIds)).set({ selectedVersionId: versionId });
      await (versionId === null ? claims.where('selectedVersionId', 'is not', null) : claims).execute();
    },
  ),
};

async function assertOwnVersion(db: Db, key: PluginKey, versionId: VersionId | null): Promise<void> {
  if (versionId === null) return;
  const version = await db
    .selectFrom('versions')
    .select('id')
    .where('id', '=', versionId)
    .where(isOfPlugin('versions', key))
    .executeTakeFirst();
  if (version === undefined)
    throw new Error(`Cannot bind "${key.name}" to ${versionId}: it is no version of the plugin.`);
}
