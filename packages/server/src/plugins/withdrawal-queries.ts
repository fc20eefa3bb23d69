import type { ContentAddress, ExtensionPointId, GuestId, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import { areOfSamePlugin, type Db, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { type Orders, setOf, sorted } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import {
  columns,
  type PluginKey,
  type PluginRecord,
  type VersionRecord,
  type WithdrawalRecord,
} from '../db/records.ts';

const withdrawalOrders: Orders<'publisher'> = {
  publisher: [sql.ref('withdrawals.userId'), sql.ref('withdrawals.contentAddress')],
};

export const withdrawalQueries = {
  /**
   * Returns the team's withdrawals of a content from a publisher: by blocks and versions of existing plugins, and by rows that deleted
   * plugins left. Yanked and rejected versions count only while no version with the same bytes is published or waits
   * for its minimum age.
   */
  async withdrawalsOf(
    db: Db,
    extensionPointId: ExtensionPointId,
    userId: UserId,
    contentAddress: ContentAddress,
  ): Promise<WithdrawalRecord[]> {
    const stored = await db
      .selectFrom('withdrawals')
      .select(columns.withdrawals)
      .where('extensionPointId', '=', extensionPointId)
      .where('userId', '=', userId)
      .where('contentAddress', '=', contentAddress)
      .execute();
    const versions = await db
      .selectFrom('versions')
      .innerJoin('plugins', (join) => join.on(areOfSamePlugin('plugins', 'versions')))
      .select(columns.versions)
      .select('plugins.block')
      .where('versions.contentAddress', '=', contentAddress)
      .where('versions.appId', '=', (eb) =>
        eb.selectFrom('extension_points').select('appId').where('id', '=', extensionPointId),
      )
      .where('versions.userId', '=', userId)
      .where('versions.extensionPointId', '=', extensionPointId)
      .execute();
    const key = { extensionPointId, userId, contentAddress };
    const blocked = versions.flatMap(({ name, block }): WithdrawalRecord[] =>
      block === null ? [] : [{ ...key, name, state: 'blocked', ...block }],
    );
    const isPublished = versions.some(({ state }) => state === 'published' || state === 'cooling_down');
    const decided = versions.flatMap(({ name, state, stateReason, stateAtMs, stateRole }): WithdrawalRecord[] =>
      stateRole === 'host' && !isPublished && (state === 'yanked' || state === 'rejected')
        ? [{ ...key, name, state, reason: stateReason, atMs: stateAtMs }]
        : [],
    );
    return [...blocked, ...decided, ...stored];
  },

  /**
   * Returns the versions of a plugin's publisher at the extension point that are published, or wait for their minimum age, and have
   * the given bytes, under any name. Without an address, returns those under other names that have the bytes of any of the plugin's versions.
   */
  async publishedCopies(
    db: Db,
    { extensionPointId, userId, name }: PluginKey,
    contentAddress?: ContentAddress,
  ): Promise<VersionRecord[]> {
    const copies = db
      .selectFrom('versions')
      .select(columns.versions)
      .where('versions.appId', '=', (eb) =>
        eb.selectFrom('extension_points').select('appId').where('id', '=', extensionPointId),
      )
      .where('versions.userId', '=', userId)
      .where('versions.extensionPointId', '=', extensionPointId)
      .where('versions.state', 'in', ['published', 'cooling_down']);
    if (contentAddress !== undefined) {
      return copies.where('versions.contentAddress', '=', contentAddress).execute();
    }
    return copies
      .where('versions.name', '<>', name)
      .where('versions.contentAddress', 'in', (eb) =>
        eb
          .selectFrom('versions as own')
          .select('own.contentAddress')
          .where(isOfPlugin('own', { extensionPointId, userId, name })),
      )
      .execute();
  },

  /** Returns a withdrawal that a deleted plugin left. */
  withdrawal: (
    db: Db,
    extensionPointId: ExtensionPointId,
    { userId, contentAddress }: { readonly userId: string; readonly contentAddress: string },
  ): Promise<WithdrawalRecord | undefined> =>
    db
      .selectFrom('withdrawals')
      .select(columns.withdrawals)
      .where('extensionPointId', '=', extensionPointId)
      .where('userId', '=', userId as UserId)
      .where('contentAddress', '=', contentAddress as ContentAddress)
      .executeTakeFirst(),

  /**
   * Returns the withdrawals that deleted plugins left at an extension point, by (user id, content address), with the publishers'
   * names.
   */
  withdrawals(
    db: Db,
    extensionPointId: ExtensionPointId,
    page: Page,
  ): Promise<(WithdrawalRecord & { readonly userName: string })[]> {
    const all = db
      .selectFrom('withdrawals')
      .innerJoin('users', 'users.id', 'withdrawals.userId')
      .select(columns.withdrawals)
      .select('users.name as userName')
      .where('withdrawals.extensionPointId', '=', extensionPointId);
    return sorted(all, withdrawalOrders, page, 'publisher').execute();
  },

  /** Returns the reservations of the plugin's name for other users under these guests, by guest id. */
  nameReservations: (
    db: Db,
    { extensionPointId, userId, name }: PluginKey,
    guestIds: readonly GuestId[],
    nowMs: number,
  ): Promise<{ readonly guestId: GuestId; readonly untilMs: number }[]> =>
    db
      .selectFrom('name_reservations')
      .select(['guestId', 'untilMs'])
      .where('extensionPointId', '=', extensionPointId)
      .where('guestId', 'in', setOf(guestIds))
      .where('name', '=', name)
      .where('userId', '!=', userId)
      .where('untilMs', '>', nowMs)
      .orderBy('guestId')
      .execute(),

  /**
   * Returns the use of a semantic version by one of a plugin's versions, or by a version of a deleted plugin of this name. In the second
   * case, `number` is `null`, and the semantic version is reserved until `untilMs`.
   */
  async semverUse(
    db: Db,
    key: PluginKey,
    semver: string,
  ): Promise<{ readonly number: number | null; readonly untilMs: number | null } | undefined> {
    const version = await db
      .selectFrom('versions')
      .select('number')
      .where(isOfPlugin('versions', key))
      .where('semver', '=', semver)
      .executeTakeFirst();
    if (version !== undefined) return { number: version.number, untilMs: null };
    const retired = await db
      .selectFrom('reserved_semvers')
      .select('untilMs')
      .where(isOfPlugin('reserved_semvers', key))
      .where('semver', '=', semver)
      .executeTakeFirst();
    return retired && { number: null, untilMs: retired.untilMs };
  },
};

export const withdrawalMutations = {
  /**
   * Stores what outlives a plugin's deletion: its withdrawn contents and, until `untilMs`, its semantic versions. Call it before
   * {@link Mutations.deletePlugin}.
   */
  retirePlugin: mutation(
    { audit: true, invalidates: nothing },
    async (
      db: Db,
      { extensionPointId, userId, name, block }: PluginRecord,
      { atMs, untilMs }: { readonly atMs: number; readonly untilMs: number },
    ): Promise<void> => {
      const ofPlugin = sql`v."extensionPointId" = ${extensionPointId} and v."userId" = ${userId} and v.name = ${name}`;
      const insertWithdrawals = sql`
        insert into withdrawals ("extensionPointId", "userId", "contentAddress", name, state, reason, "atMs")
        select v."extensionPointId", v."userId", v."contentAddress", v.name`;
      const perContent = sql`
        from versions v where ${ofPlugin} group by v."extensionPointId", v."userId", v."contentAddress", v.name`;
      const orReplace = sql`
        on conflict ("extensionPointId", "userId", "contentAddress") do update set
          name = excluded.name, state = excluded.state, reason = excluded.reason, "atMs" = excluded."atMs"`;
      // For the same bytes, "blocked" takes precedence over "yanked", and "yanked" over "rejected".
      for (const state of ['rejected', 'yanked'] as const) {
        const isWithdrawn = sql`v.state = ${sql.lit(state)} and v."stateRole" = 'host'`;
        await sql`
          ${insertWithdrawals}, ${sql.lit(state)}, max(case when ${isWithdrawn} then v."stateReason" end), ${bigint(atMs)} ${perContent}
          having sum(case when v.state in ('published', 'cooling_down') then 1 else 0 end) = 0
            and sum(case when ${isWithdrawn} then 1 else 0 end) > 0
          ${state === 'rejected' ? sql`on conflict do nothing` : sql`${orReplace} where withdrawals.state <> 'blocked'`}
        `.execute(db);
      }
      if (block !== null) {
        const reason = sql`cast(${block.reason} as text)`;
        await sql`${insertWithdrawals}, 'blocked', ${reason}, ${bigint(atMs)} ${perContent} ${orReplace}`.execute(db);
      }
      await sql`
        update reserved_semvers set "untilMs" = ${untilMs}
        where "extensionPointId" = ${extensionPointId} and "userId" = ${userId} and name = ${name}
      `.execute(db);
      await sql`
        insert into reserved_semvers ("extensionPointId", "userId", name, semver, "untilMs")
        select distinct v."extensionPointId", v."userId", v.name, v.semver, ${bigint(untilMs)}
        from versions v where ${ofPlugin} and v.semver is not null
        on conflict ("extensionPointId", "userId", name, semver) do update set "untilMs" = excluded."untilMs"
      `.execute(db);
    },
  ),

  /** Reserves a plugin's name for its publisher under guests. */
  reserveName: mutation(
    { audit: false, invalidates: nothing },
    async (
      db: Db,
      { extensionPointId, userId, name }: PluginKey,
      guestIds: readonly GuestId[],
      untilMs: number,
    ): Promise<void> => {
      // Without `where true`, SQLite parses `on` as part of a join.
      await sql`
        insert into name_reservations ("extensionPointId", "guestId", name, "userId", "untilMs")
        select ${extensionPointId}, key, ${name}, ${userId}, ${bigint(untilMs)} from ${setOf(guestIds)} as guests where true
        on conflict ("extensionPointId", "guestId", name) do update set
          "userId" = excluded."userId", "untilMs" = excluded."untilMs"
      `.execute(db);
    },
  ),

  deleteWithdrawal: statement(
    { audit: true, invalidates: nothing },
    (
      db: Db,
      {
        extensionPointId,
        userId,
        contentAddress,
      }: Pick<WithdrawalRecord, 'extensionPointId' | 'userId' | 'contentAddress'>,
    ) =>
      db
        .deleteFrom('withdrawals')
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
        .where('contentAddress', '=', contentAddress),
  ),
};

/** A time in the column list of a select, where PostgreSQL can't infer a parameter's type. */
function bigint(ms: number) {
  return sql`cast(${ms} as bigint)`;
}
