import type { ExtensionPointId, GuestId, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { listTag } from '../cache/cache-tag.ts';
import { areOfSamePlugin, type Db, hasRow, isOfPlugin } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';
import { contains, countMatches, inChunks, type Orders, setOf, sorted } from '../db/page-queries.ts';
import type {
  BindingKey,
  BindingMove,
  BindingPosition,
  BindingSort,
  BindingToAttest,
  GuestBinding,
  Page,
  PluginBinding,
  SortedPage,
} from '../db/query-types.ts';
import { type BindingRecord, type BoundRecord, columns, type GuestRecord, type PluginKey } from '../db/records.ts';
import { ConflictError } from '../db/store-errors.ts';
import { isOfPublisher } from './blocked-publisher-queries.ts';

const guestBindingOrders: Orders<'extensionPoint'> = {
  extensionPoint: [sql.ref('bindings.extensionPointId'), sql.ref('plugins.sortKey'), sql.ref('bindings.name')],
};

const pluginBindingOrders: Orders<BindingSort> = {
  createdAt: [sql.ref('bindings.guestId')],
  guestKey: [sql.ref('guests.sortKey'), sql.ref('bindings.guestId')],
};

function bindingsOfGuestFound(db: Db, guestId: GuestId, text: string | undefined) {
  const bindings = bindingsWithVersions(db)
    .innerJoin('plugins', (join) => join.on(areOfSamePlugin('plugins', 'bindings')))
    .innerJoin('users', 'users.id', 'bindings.userId')
    .innerJoin('extension_points', 'extension_points.id', 'bindings.extensionPointId')
    .select(['extension_points.name as extensionPointName', 'users.name as userName', 'plugins.block'])
    .leftJoin('blocked_publishers', (join) => join.on(isOfPublisher))
    .select('blocked_publishers.block as publisherBlock')
    .where('bindings.guestId', '=', guestId)
    .where('extension_points.deletedAtMs', 'is', null);
  return text === undefined ? bindings : bindings.where(contains('bindings.name', text));
}

function bindingsOfPluginFound(db: Db, key: PluginKey, text: string | undefined) {
  const bindings = bindingsWithGuests(db).where(isOfPlugin('bindings', key));
  return text === undefined ? bindings : bindings.where(contains('guests.guestKey', text));
}

export const bindingQueries = {
  /** Returns the bound versions under a guest key, in no particular order; none for a key that no guest has. */
  bindings: (db: Db, extensionPointId: ExtensionPointId, guestKey: string): Promise<BoundRecord[]> =>
    bindingsWithVersions(db)
      .where('bindings.extensionPointId', '=', extensionPointId)
      // A subquery, since for a join the planner reads all bindings of the extension point.
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

  /**
   * Returns the bindings under a guest by extension point and name, with the publishers' names and the plugins' blocks. `text` is a
   * part of the name.
   */
  bindingsOfGuest: (db: Db, guestId: GuestId, page: Page, text?: string): Promise<GuestBinding[]> =>
    sorted(bindingsOfGuestFound(db, guestId, text), guestBindingOrders, page, 'extensionPoint').execute(),

  countBindingsOfGuest: (db: Db, guestId: GuestId, text: string | undefined): Promise<number> =>
    countMatches(db, bindingsOfGuestFound(db, guestId, text)),

  /** Returns the bindings of a plugin, with the guest keys. `text` is a part of the guest key. */
  bindingsOfPlugin: (db: Db, key: PluginKey, page: SortedPage<BindingSort>, text?: string): Promise<PluginBinding[]> =>
    sorted(bindingsOfPluginFound(db, key, text), pluginBindingOrders, page, 'createdAt').execute(),

  countBindingsOfPlugin: (db: Db, key: PluginKey, text: string | undefined): Promise<number> =>
    countMatches(db, bindingsOfPluginFound(db, key, text)),

  /** Returns the bindings of these plugins under all guests, with the guest keys. With `limit`, at most that many, sorted by plugin. */
  bindingsOfPlugins: (db: Db, keys: readonly PluginKey[], limit?: number): Promise<PluginBinding[]> =>
    inChunks(keys.toSorted(byPluginKey), (chunk, remaining) => bindingsOf(db, chunk, remaining), limit),

  /** Returns the guests under which a version of a plugin is bound, by id, after an id. */
  async guestsBoundToPlugin(db: Db, key: PluginKey, after: string, limit: number): Promise<GuestId[]> {
    const rows = await db
      .selectFrom('bindings')
      .select('guestId')
      .where(isOfPlugin('bindings', key))
      .where('versionId', 'is not', null)
      .where('guestId', '>', after as GuestId)
      .orderBy('guestId')
      .limit(limit)
      .execute();
    return rows.map(({ guestId }) => guestId);
  },

  /**
   * Returns the bindings of an extension point under these guests with their versions, by guest key and name. The versions of bindings that
   * bind none are `null`. Plugins that are marked as deleted have none.
   */
  bindingsToAttest(
    db: Db,
    extensionPointId: ExtensionPointId,
    guestIds: readonly GuestId[],
    after: BindingPosition | undefined,
    limit: number,
  ): Promise<BindingToAttest[]> {
    const bindings = db
      .selectFrom('bindings')
      .innerJoin('guests', 'guests.id', 'bindings.guestId')
      .innerJoin('plugins', (join) => join.on(areOfSamePlugin('plugins', 'bindings')))
      .innerJoin('users', 'users.id', 'bindings.userId')
      .leftJoin('versions', 'versions.id', 'bindings.versionId')
      .select(['guests.guestKey', 'bindings.userId', 'bindings.name', 'bindings.updatedAtMs'])
      .select(['users.name as userName', 'versions.number', 'versions.semver', 'versions.note'])
      .select(['versions.contentAddress', 'versions.size'])
      .where('bindings.extensionPointId', '=', extensionPointId)
      .where('bindings.guestId', 'in', setOf(guestIds))
      .where('plugins.deletedAtMs', 'is', null)
      .orderBy('guests.guestKey')
      .orderBy('bindings.name')
      .limit(limit);
    if (after === undefined) return bindings.execute();
    const { guestKey, name } = after;
    return bindings.where(sql<boolean>`(guests."guestKey", bindings.name) > (${guestKey}, ${name})`).execute();
  },

  guestsWithNameTaken,

  /** Returns those of these guests that have at least `maxNames` plugins, but not this one, by id. */
  async guestsAtPluginLimit(
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

  /** Whether the plugin is pinned to a version under any guest. */
  isPinned: (db: Db, key: PluginKey): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('versions')
        .innerJoin('bindings', 'bindings.pinnedVersionId', 'versions.id')
        .select('versions.id')
        .where(isOfPlugin('versions', key)),
    ),

  /** Whether the plugin is rolled back under any of these guests, since its newest version had this number or a greater one. */
  isRolledBack: (db: Db, key: PluginKey, guestIds: readonly GuestId[], atNumber: number): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('bindings')
        .select('guestId')
        .where(isOfPlugin('bindings', key))
        .where('selectedVersionId', 'is not', null)
        .where((eb) => eb(eb.fn.coalesce('selectedAtNumber', eb.lit(0)), '>=', atNumber))
        .where('guestId', 'in', setOf(guestIds)),
    ),

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

/** Returns those of these guests under which another user has a plugin of this name, by id. */
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

function byPluginKey(a: PluginKey, b: PluginKey): number {
  const [one, other] = [a, b].map(({ extensionPointId, userId, name }) => `${extensionPointId}/${userId}/${name}`);
  return one === other ? 0 : String(one) < String(other) ? -1 : 1;
}

function bindingsOf(db: Db, keys: readonly PluginKey[], limit: number | undefined): Promise<PluginBinding[]> {
  const values = keys.map((key) => sql`(${key.extensionPointId}, ${key.userId}, ${key.name})`);
  const columns = sql`(bindings."extensionPointId", bindings."userId", bindings.name)`;
  // For one plugin, the index returns the rows in order. For several, the database reads and sorts all rows before it limits them.
  const isOneOfThem =
    values.length === 1
      ? sql<boolean>`${columns} = ${values[0]}`
      : sql<boolean>`${columns} in (values ${sql.join(values)})`;
  const bindings = bindingsWithGuests(db).where(isOneOfThem);
  if (limit === undefined) return bindings.execute();
  return bindings
    .orderBy('bindings.extensionPointId')
    .orderBy('bindings.userId')
    .orderBy('bindings.name')
    .orderBy('bindings.guestId')
    .limit(limit)
    .execute();
}

function bindingsWithGuests(db: Db) {
  return bindingsWithVersions(db).innerJoin('guests', 'guests.id', 'bindings.guestId').select('guests.guestKey');
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

/** A binding of one of several plugins, and the version to bind; `null` for none. */
export interface BindingOfPluginMove {
  readonly key: PluginKey;
  readonly guestId: GuestId;
  readonly guestKey: string;
  readonly versionId: VersionId | null;
}

/** Databases limit the parameters of a statement. */
const movesPerStatement = 200;

const updateBindings = (db: Db, key: PluginKey) => db.updateTable('bindings').where(isOfPlugin('bindings', key));

export const bindingMutations = {
  /**
   * Inserts bindings of the plugin's name under guests, without a bound version. Existing bindings stay unchanged.
   *
   * @throws ConflictError if another user has a plugin of this name under one of the guests
   */
  putBindingKeys: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, key: PluginKey, guestIds: readonly GuestId[]): Promise<void> => {
      const { extensionPointId, userId, name } = key;
      // Without `where true`, SQLite parses `on` as part of a join.
      await sql`
        insert into bindings ("extensionPointId", "guestId", name, "userId", "updatedAtMs")
        select ${extensionPointId}, key, ${name}, ${userId}, 0 from ${setOf(guestIds)} as guests where true
        on conflict ("extensionPointId", "guestId", name) do nothing
      `.execute(db);
      const [taken] = await guestsWithNameTaken(db, key, guestIds);
      if (taken !== undefined)
        throw new ConflictError(`Another user has a plugin named "${name}" under the guest ${taken}.`);
    },
  ),

  /**
   * Binds another version of the plugin under these guests, or none. Pins and roll backs stay unchanged. Each binding's
   * `updatedAtMs` increases, even if the clock was set back.
   */
  moveBindings: mutation(
    {
      // The change that caused the move has the audit event.
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
      await updateBindings(db, key)
        .where('guestId', 'in', setOf(ids))
        .set({
          versionId,
          updatedAtMs: sql<number>`case when "updatedAtMs" < ${nowMs} then ${nowMs} else "updatedAtMs" + 1 end`,
        })
        .execute();
    },
  ),

  /** As {@link Mutations.moveBindings}, of several plugins, with a change event for each list. */
  moveBindingsOfPlugins: mutation(
    {
      audit: false,
      invalidates: (moves) => moves.map(({ key, guestKey }) => listTag(key.extensionPointId, guestKey)),
      changes: async (changed, db, moves) => {
        for (const [extensionPointId, some] of Map.groupBy(moves, ({ key }) => key.extensionPointId)) {
          const guestKeys = some.map(({ guestKey }) => guestKey);
          await changed.addLists(db, extensionPointId, guestKeys);
        }
      },
    },
    async (db: Db, moves: readonly BindingOfPluginMove[], nowMs: number): Promise<void> => {
      for (let at = 0; at < moves.length; at += movesPerStatement) {
        const some = moves.slice(at, at + movesPerStatement);
        const rows = some.map(
          ({ key, guestId, versionId }) =>
            sql`(${key.extensionPointId}, ${guestId}, ${key.name}, ${key.userId}, cast(${versionId} as text))`,
        );
        // The version must be one of the plugin.
        const moved = await sql`
          update bindings set "versionId" = moved.column5,
            "updatedAtMs" = case when "updatedAtMs" < ${nowMs} then ${nowMs} else "updatedAtMs" + 1 end
          from (values ${sql.join(rows)}) as moved
          where bindings."extensionPointId" = moved.column1 and bindings."guestId" = moved.column2
            and bindings.name = moved.column3 and bindings."userId" = moved.column4
            and (moved.column5 is null or exists (
              select 1 from versions where versions.id = moved.column5 and versions."extensionPointId" = moved.column1
                and versions."userId" = moved.column4 and versions.name = moved.column3))
        `.execute(db);
        if (Number(moved.numAffectedRows) === some.length) continue;
        throw new Error(
          `Moved ${moved.numAffectedRows} of ${some.length} bindings: a version is not one of its plugin.`,
        );
      }
    },
  ),

  /** Pins a binding to a version of the plugin, or unpins it. The bound version changes only with `moveBindings()`. */
  pinVersion: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, { guestId, ...key }: BindingKey, versionId: VersionId | null): Promise<void> => {
      await assertOwnVersion(db, key, versionId);
      await updateBindings(db, key).where('guestId', '=', guestId).set({ pinnedVersionId: versionId }).execute();
    },
  ),

  /** Rolls bindings back to a version of the plugin, or ends roll backs. The bound versions change only with `moveBindings()`. */
  selectVersion: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, key: PluginKey, guestIds: readonly GuestId[], versionId: VersionId | null): Promise<void> => {
      await assertOwnVersion(db, key, versionId);
      const update = updateBindings(db, key)
        .where('guestId', 'in', setOf(guestIds))
        .set(({ selectFrom }) => ({
          selectedVersionId: versionId,
          selectedAtNumber:
            versionId === null
              ? null
              : selectFrom('versions')
                  .select(({ fn }) => fn.max('versions.number').as('number'))
                  .where(isOfPlugin('versions', key)),
        }));
      await (versionId === null ? update.where('selectedVersionId', 'is not', null) : update).execute();
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
    throw new Error(`Cannot bind "${key.name}" to ${versionId}: it is not a version of the plugin.`);
}
