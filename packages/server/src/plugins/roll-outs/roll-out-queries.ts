import type { AppId, GuestId, RollOutListQuery, VersionId } from '@tenon/protocol';
import { sql } from 'kysely';
import { areOfSamePlugin, type Db, hasRow, isOfPlugin } from '../../db/db.ts';
import { mutation, nothing, statement } from '../../db/mutation.ts';
import { paged, setOf } from '../../db/page-queries.ts';
import type { Page } from '../../db/query-types.ts';
import { columns, type PluginKey, type VersionRecord } from '../../db/records.ts';
import type { RollOutRecord } from '../../db/roll-out-records.ts';

/** A roll-out with its version's number and semantic version. */
export type RollOutOfVersion = RollOutRecord & Pick<VersionRecord, 'number' | 'semver'>;

/** A roll-out whose step ends. */
export interface DueRollOut {
  readonly versionId: VersionId;
  readonly dueAtMs: number;
}

interface DuePage {
  /** Selects the later ones, in the same order. */
  readonly after: DueRollOut;
  readonly limit: number;
}

/** Whether a version of a query has reached, or may reach, all guests at once: its roll-out, if any, is completed. */
export const isForAllGuests = (versions: 'versions' | 'others') =>
  sql<boolean>`not exists (select 1 from roll_outs
    where roll_outs."versionId" = ${sql.table(versions)}.id and roll_outs.state <> 'completed')`;

/** The fields that change after the start. */
export type RollOutChange = Partial<
  Pick<RollOutRecord, 'state' | 'step' | 'reason' | 'stepAtMs' | 'updatedAtMs' | 'dueAtMs' | 'endedAtMs'>
>;

export const rollOutQueries = {
  rollOut: (db: Db, versionId: VersionId): Promise<RollOutRecord | undefined> =>
    db.selectFrom('roll_outs').select(columns.rollOuts).where('versionId', '=', versionId).executeTakeFirst(),

  rollOutsOfVersions: (db: Db, versionIds: readonly VersionId[]): Promise<RollOutRecord[]> =>
    db.selectFrom('roll_outs').select(columns.rollOuts).where('versionId', 'in', setOf(versionIds)).execute(),

  /** The open roll-outs of published versions of some plugins. */
  openRollOuts(db: Db, keys: readonly PluginKey[]): Promise<RollOutOfVersion[]> {
    const values = keys.map((key) => sql`(${key.extensionPointId}, ${key.userId}, ${key.name})`);
    return rollOutsWithVersions(db)
      .where(
        sql<boolean>`(roll_outs."extensionPointId", roll_outs."userId", roll_outs.name) in (values ${sql.join(values)})`,
      )
      .where('roll_outs.endedAtMs', 'is', null)
      .where('versions.state', '=', 'published')
      .orderBy('versions.number')
      .execute();
  },

  /** The open roll-outs of versions that were published under a guest. */
  openRollOutsOfGuest: (db: Db, appId: AppId, guestId: GuestId): Promise<RollOutRecord[]> =>
    db
      .selectFrom('roll_outs')
      .select(columns.rollOuts)
      .where('appId', '=', appId)
      .where('endedAtMs', 'is', null)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('version_guests')
            .select('version_guests.versionId')
            .whereRef('version_guests.versionId', '=', 'roll_outs.versionId')
            .where('version_guests.guestId', '=', guestId),
        ),
      )
      .orderBy('versionId')
      .execute(),

  /** The roll-outs of an application, the newest version first. */
  rollOutsOfApp(db: Db, appId: AppId, state: RollOutListQuery['state'], page: Page): Promise<RollOutOfVersion[]> {
    let rows = rollOutsWithVersions(db).where('roll_outs.appId', '=', appId);
    if (state === 'open')
      rows = rows.where('roll_outs.endedAtMs', 'is', null).where('roll_outs.state', '<>', 'planned');
    else if (state !== undefined) rows = rows.where('roll_outs.state', '=', state);
    return paged(rows, 'roll_outs.versionId', page, true).execute();
  },

  /** The running roll-outs whose step ends at a time or before, in the order of these times. */
  async dueRollOuts(db: Db, nowMs: number, { after, limit }: DuePage): Promise<DueRollOut[]> {
    const due = await db
      .selectFrom('roll_outs')
      .innerJoin('plugins', (join) => join.on(areOfSamePlugin('plugins', 'roll_outs')))
      .innerJoin('extension_points', 'extension_points.id', 'roll_outs.extensionPointId')
      .select(['roll_outs.versionId', 'roll_outs.dueAtMs'])
      .where('roll_outs.dueAtMs', '<=', nowMs)
      .where(sql<boolean>`(roll_outs."dueAtMs", roll_outs."versionId") > (${after.dueAtMs}, ${after.versionId})`)
      .where('plugins.deletedAtMs', 'is', null)
      .where('extension_points.deletedAtMs', 'is', null)
      .orderBy('roll_outs.dueAtMs')
      .orderBy('roll_outs.versionId')
      .limit(limit)
      .execute();
    return due.map(({ versionId, dueAtMs }) => ({ versionId, dueAtMs: dueAtMs ?? 0 }));
  },

  /** The newest published version before another one that is for all guests. */
  versionBefore: (db: Db, key: PluginKey, number: number): Promise<VersionRecord | undefined> =>
    db
      .selectFrom('versions')
      .select(columns.versions)
      .where(isOfPlugin('versions', key))
      .where('versions.state', '=', 'published')
      .where('versions.number', '<', number)
      .where(isForAllGuests('versions'))
      .orderBy('versions.number', 'desc')
      .limit(1)
      .executeTakeFirst(),

  /**
   * Whether guests may have had a version of the plugin before this one: an older one, also if it is yanked, one of a deleted plugin whose
   * name is still reserved for the publisher, or this one in a roll-out.
   */
  hadVersionBefore(db: Db, { id, number, ...key }: PluginKey & Pick<VersionRecord, 'number' | 'id'>): Promise<boolean> {
    const before = db
      .selectFrom('versions')
      .select(sql.lit(1).as('found'))
      .where(isOfPlugin('versions', key))
      .where('versions.number', '<', number)
      .where('versions.state', 'in', ['published', 'yanked'])
      .unionAll(
        db.selectFrom('name_reservations').select(sql.lit(1).as('found')).where(isOfPlugin('name_reservations', key)),
      )
      .unionAll(
        db
          .selectFrom('roll_outs')
          .select(sql.lit(1).as('found'))
          .where('roll_outs.versionId', '=', id)
          .where('roll_outs.state', '<>', 'planned'),
      );
    return hasRow(before);
  },

  /** Whether all guests of a version have a newer published version that is for all guests. */
  async isSuperseded(db: Db, { number, id, ...version }: PluginKey & Pick<VersionRecord, 'number' | 'id'>) {
    const newer = await db
      .selectFrom('versions')
      .select('versions.id')
      .where(isOfPlugin('versions', version))
      .where('versions.state', '=', 'published')
      .where('versions.number', '>', number)
      .where(isForAllGuests('versions'))
      .orderBy('versions.number', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (newer === undefined) return false;
    const lacking = db
      .selectFrom('version_guests')
      .select('version_guests.guestId')
      .where('version_guests.versionId', '=', id)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('version_guests as others')
              .select('others.guestId')
              .where('others.versionId', '=', newer.id)
              .whereRef('others.guestId', '=', 'version_guests.guestId'),
          ),
        ),
      );
    return !(await hasRow(lacking));
  },

  /** Counts the guests under which a version was published, and those under which it is bound. */
  async countGuestsOfVersion(db: Db, versionId: VersionId): Promise<{ readonly all: number; readonly bound: number }> {
    const { all, bound } = await db
      .selectNoFrom(({ selectFrom }) => [
        selectFrom('version_guests')
          .select(({ fn }) => fn.countAll<number | string>().as('count'))
          .where('versionId', '=', versionId)
          .as('all'),
        selectFrom('bindings')
          .select(({ fn }) => fn.countAll<number | string>().as('count'))
          .where('versionId', '=', versionId)
          .as('bound'),
      ])
      .executeTakeFirstOrThrow();
    return { all: Number(all), bound: Number(bound) };
  },
};

function rollOutsWithVersions(db: Db) {
  return db
    .selectFrom('roll_outs')
    .innerJoin('versions', 'versions.id', 'roll_outs.versionId')
    .select(columns.rollOuts)
    .select(['versions.number', 'versions.semver']);
}

export const rollOutMutations = {
  /** Replaces an earlier roll-out of the version. */
  putRollOut: statement({ audit: true, invalidates: nothing }, (db: Db, rollOut: RollOutRecord) => {
    const { versionId: _, ...others } = rollOut;
    return db
      .insertInto('roll_outs')
      .values(rollOut)
      .onConflict((conflict) => conflict.column('versionId').doUpdateSet(others));
  }),

  updateRollOut: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, versionId: VersionId, change: RollOutChange) =>
      db.updateTable('roll_outs').set(change).where('versionId', '=', versionId),
  ),

  deleteRollOut: statement({ audit: true, invalidates: nothing }, (db: Db, versionId: VersionId) =>
    db.deleteFrom('roll_outs').where('versionId', '=', versionId),
  ),

  /** Makes the rollbacks of bindings count as made before a version, so that its roll-out reaches them. */
  dateRollBacks: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, key: PluginKey, guestIds: readonly GuestId[], number: number): Promise<void> => {
      await db
        .updateTable('bindings')
        .set({ selectedAtNumber: number - 1 })
        .where(isOfPlugin('bindings', key))
        .where('guestId', 'in', setOf(guestIds))
        .execute();
    },
  ),
};
