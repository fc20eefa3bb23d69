import type { GuestId } from '@tenon/protocol';
import { sql } from 'kysely';
import { areOfSamePlugin, type Db, isOfPlugin, pluginBindings } from '../db/db.ts';
import { setOf } from '../db/page-queries.ts';
import type { BindingRange, BindingWithFacts, RollOutCandidate } from '../db/query-types.ts';
import type { PluginKey } from '../db/records.ts';
import { isOfPublisher } from './blocked-publisher-queries.ts';
import { readCandidates } from './roll-outs/candidates.ts';
import { isForAllGuests } from './roll-outs/roll-out-queries.ts';

export const bindingFactsQueries = {
  /**
   * Returns a plugin's bindings by guest id, with everything that decides which version each of them binds. An index finds each
   * version, so the time doesn't depend on the number of versions.
   */
  async bindingFacts(
    db: Db,
    key: PluginKey,
    { guestIds, after, limit }: BindingRange = {},
  ): Promise<BindingWithFacts[]> {
    let facts = factsOf(db).where(isOfPlugin('plugins', key)).orderBy('bindings.guestId');
    if (guestIds !== undefined) facts = facts.where('bindings.guestId', 'in', setOf(guestIds));
    if (after !== undefined) facts = facts.where('bindings.guestId', '>', after as GuestId);
    const rows = await (limit === undefined ? facts : facts.limit(limit)).execute();
    const candidates = await readCandidates(db, rows);
    return rows.map((row, at) => toFacts(row, candidates[at]));
  },

  /** As {@link bindingFactsQueries.bindingFacts}, for several plugins, in any order. It returns at most `limit` bindings. */
  async bindingFactsOfPlugins(db: Db, keys: readonly PluginKey[], limit: number): Promise<BindingFactsOfPlugin[]> {
    const values = keys.map((key) => sql`(${key.extensionPointId}, ${key.userId}, ${key.name})`);
    const rows = await factsOf(db)
      .where(sql<boolean>`(plugins."extensionPointId", plugins."userId", plugins.name) in (values ${sql.join(values)})`)
      .limit(limit)
      .execute();
    const candidates = await readCandidates(db, rows);
    return rows.map((row, at) => {
      const { extensionPointId, userId, name } = row;
      return { key: { extensionPointId, userId, name }, facts: toFacts(row, candidates[at]) };
    });
  },
};

/** A plugin's binding, with its plugin. */
export interface BindingFactsOfPlugin {
  readonly key: PluginKey;
  readonly facts: BindingWithFacts;
}

function factsOf(db: Db) {
  return pluginBindings(db)
    .leftJoin('blocked_publishers', (join) => join.on(isOfPublisher))
    .leftJoin('versions as pinned', 'pinned.id', 'bindings.pinnedVersionId')
    .leftJoin('versions as selected', 'selected.id', 'bindings.selectedVersionId')
    .select((eb) => [
      'plugins.extensionPointId',
      'plugins.userId',
      'plugins.name',
      'bindings.guestId',
      'guests.guestKey',
      'guests.ring',
      'bindings.versionId',
      'bindings.updatedAtMs',
      'bindings.selectedAtNumber',
      'plugins.block',
      'blocked_publishers.block as publisherBlock',
      'plugins.deletedAtMs',
      'pinned.id as pinnedId',
      'pinned.state as pinnedState',
      'selected.state as selectedState',
      'selected.id as selectedId',
      'selected.number as selectedNumber',
      eb
        .selectFrom('versions')
        .innerJoin('version_guests', (join) =>
          join
            .onRef('version_guests.versionId', '=', 'versions.id')
            .onRef('version_guests.guestId', '=', 'bindings.guestId'),
        )
        .select('versions.id')
        .where(areOfSamePlugin('versions', 'plugins'))
        .where('versions.state', '=', 'published')
        .where(isForAllGuests('versions'))
        .orderBy('versions.number', 'desc')
        .limit(1)
        .as('newest'),
      eb
        .exists(
          eb
            .selectFrom('roll_outs')
            .select('roll_outs.versionId')
            .where(areOfSamePlugin('roll_outs', 'plugins'))
            .where('roll_outs.endedAtMs', 'is', null),
        )
        .as('isRollingOut'),
    ]);
}

type FactsRow = Awaited<ReturnType<ReturnType<typeof factsOf>['execute']>>[number];

function toFacts(row: FactsRow, candidates: readonly RollOutCandidate[] = []): BindingWithFacts {
  const { guestId, guestKey, versionId, updatedAtMs, newest } = row;
  return {
    guestId,
    guestKey,
    versionId,
    selectedVersionId: row.selectedId,
    selectedNumber: row.selectedNumber,
    selectedAtNumber: row.selectedAtNumber,
    updatedAtMs,
    isBlocked: row.block !== null || row.publisherBlock !== null || row.deletedAtMs !== null,
    pinned: row.pinnedId === null ? null : { id: row.pinnedId, isPublished: row.pinnedState === 'published' },
    selected: row.selectedState === 'published' ? row.selectedId : null,
    newest,
    candidates,
  };
}
