import type { AppId, ExtensionPointId, UserId } from '@tenon/protocol';
import { type RawBuilder, sql } from 'kysely';
import { type Db, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { sorted } from '../db/page-queries.ts';
import type { ListedQuotaOverride, Page } from '../db/query-types.ts';
import type { QuotaOverrideRecord, QuotaWarningRecord } from '../db/quota-records.ts';
import { columns, type PluginKey } from '../db/records.ts';

/** The account and the application that simulations count for. */
export interface SimulationPayers {
  readonly userId: UserId;
  readonly appId: AppId;
}

/*
 * Each query of a quota reads an index. The bytes of versions are summed by plugin: a plugin's row has the sum of its versions.
 */

const firstRow = async <T>(db: Db, query: RawBuilder<T>): Promise<T> => (await query.execute(db)).rows[0] as T;

const count = async (db: Db, fromWhere: RawBuilder<unknown>): Promise<number> =>
  (await firstRow(db, sql<{ count: number }>`select count(*) as count ${fromWhere}`)).count;

export const quotaQueries = {
  /** Counts the applications that a user owns. */
  countOwnedApps: (db: Db, userId: UserId): Promise<number> =>
    count(
      db,
      sql`
        from members join apps on apps.id = members."appId"
        where members."userId" = ${userId} and members.role = 'owner' and apps."deletedAtMs" is null
      `,
    ),

  /** Counts a user's tokens that have not expired, without those of sessions. */
  countTokens: (db: Db, userId: UserId, nowMs: number): Promise<number> =>
    count(db, sql`from tokens where "userId" = ${userId} and "sessionId" is null and "expiresAtMs" > ${nowMs}`),

  /** Counts a user's API keys that have not expired. */
  countApiKeys: (db: Db, userId: UserId, nowMs: number): Promise<number> =>
    count(db, sql`from api_keys where "userId" = ${userId} and "expiresAtMs" > ${nowMs}`),

  /** Counts a user's plugins in all applications. */
  countPluginsOf: (db: Db, userId: UserId): Promise<number> =>
    count(db, sql`from plugins where "userId" = ${userId} and "deletedAtMs" is null`),

  /** Counts an application's guests and its invitations that can still be accepted. */
  async countGuests(db: Db, appId: AppId, nowMs: number): Promise<number> {
    const guests = await count(db, sql`from guests where "appId" = ${appId}`);
    // `status` is a literal, because a partial index is used only if the query contains its condition.
    const open = sql`from invitations where "appId" = ${appId} and status = 'pending' and "expiresAtMs" > ${nowMs}`;
    return guests + (await count(db, open));
  },

  /** Counts an application's extension points and the bytes of their schemas. */
  countExtensionPoints: (db: Db, appId: AppId): Promise<{ readonly count: number; readonly bytes: number }> =>
    firstRow(
      db,
      sql<{ count: number; bytes: number }>`
        select count(*) as count, cast(coalesce(sum(octet_length("schemaJson")), 0) as bigint) as bytes
        from extension_points where "appId" = ${appId} and "deletedAtMs" is null
      `,
    ),

  /** Sums the bytes of a user's versions. */
  async sumPublishedBytes(db: Db, userId: UserId): Promise<number> {
    const { bytes } = await firstRow(
      db,
      sql<{ bytes: number }>`
        select cast(coalesce(sum(bytes), 0) as bigint) as bytes
        from plugins where "userId" = ${userId} and "deletedAtMs" is null
      `,
    );
    return bytes;
  },

  /** Returns the GCRA time of the bytes that an account stored; 0 for none. */
  async accountChargedUntilMs(db: Db, userId: UserId): Promise<number> {
    const user = await db
      .selectFrom('users')
      .select('publishChargedUntilMs')
      .where('id', '=', userId)
      .executeTakeFirst();
    return user?.publishChargedUntilMs ?? 0;
  },

  /** Returns the GCRA time of the invitations that an account mailed; 0 for none. */
  async accountMailsChargedUntilMs(db: Db, userId: UserId): Promise<number> {
    const user = await db.selectFrom('users').select('mailsChargedUntilMs').where('id', '=', userId).executeTakeFirst();
    return user?.mailsChargedUntilMs ?? 0;
  },

  /** Returns the GCRA time of the simulations of an account; 0 for none. */
  async userSimulationsChargedUntilMs(db: Db, userId: UserId): Promise<number> {
    const users = db.selectFrom('users').select('simulationsChargedUntilMs').where('id', '=', userId);
    return (await users.executeTakeFirst())?.simulationsChargedUntilMs ?? 0;
  },

  /** Returns the GCRA time of the simulations of an application; 0 for none. */
  async appSimulationsChargedUntilMs(db: Db, appId: AppId): Promise<number> {
    const apps = db.selectFrom('apps').select('simulationsChargedUntilMs').where('id', '=', appId);
    return (await apps.executeTakeFirst())?.simulationsChargedUntilMs ?? 0;
  },

  /** Counts the simulations of an extension point. */
  countSimulations: (db: Db, id: ExtensionPointId): Promise<number> =>
    count(db, sql`from simulations where "extensionPointId" = ${id}`),

  /** The overrides of these accounts and applications. */
  quotaOverrides: (db: Db, subjectIds: readonly (UserId | AppId)[]): Promise<QuotaOverrideRecord[]> =>
    db.selectFrom('quota_overrides').select(columns.quotaOverrides).where('subjectId', 'in', subjectIds).execute(),

  /** All overrides, by subject and name. */
  listedQuotaOverrides: (db: Db, page: Page): Promise<ListedQuotaOverride[]> =>
    sorted(
      db
        .selectFrom('quota_overrides')
        .leftJoin('users', 'users.id', 'quota_overrides.userId')
        .leftJoin('apps', 'apps.id', 'quota_overrides.appId')
        .select(columns.quotaOverrides)
        .select(({ fn, ref }) => fn.coalesce(ref('users.name'), ref('apps.name')).as('subjectName')),
      { id: [sql.ref('quota_overrides.subjectId'), sql.ref('quota_overrides.name')] },
      page,
      'id',
    ).execute(),

  /** The highest level of a quota that was warned about. */
  quotaWarning: (db: Db, subjectId: UserId | AppId, name: string): Promise<QuotaWarningRecord | undefined> =>
    db
      .selectFrom('quota_warnings')
      .select(columns.quotaWarnings)
      .where('subjectId', '=', subjectId)
      .where('name', '=', name)
      .executeTakeFirst(),

  /** Returns the GCRA time of a plugin's publishes; 0 for none. */
  async pluginChargedUntilMs(db: Db, key: PluginKey): Promise<number> {
    const plugin = await db
      .selectFrom('plugins')
      .select('publishChargedUntilMs')
      .where(isOfPlugin('plugins', key))
      .executeTakeFirst();
    return plugin?.publishChargedUntilMs ?? 0;
  },

  /** Counts an application's plugins, and the bytes of their versions, of its simulations, and of reports. */
  countPlugins: (db: Db, appId: AppId): Promise<{ readonly plugins: number; readonly bytes: number }> =>
    firstRow(
      db,
      sql<{ plugins: number; bytes: number }>`
        select count(*) as plugins, cast(coalesce(sum(bytes), 0) + (
          select coalesce(sum(s.bytes), 0) from extension_points e join simulations s on s."extensionPointId" = e.id
          where e."appId" = ${appId} and e."deletedAtMs" is null
        ) + (
          select coalesce(sum(r."reportBytes"), 0) from simulation_runs r
          where r."appId" = ${appId} and r."reportBytes" > 0
        ) as bigint) as bytes
        from plugins where "appId" = ${appId} and "deletedAtMs" is null
      `,
    ),
};

/** Not audited, because the change that calls them inserts an audit event. */
const rules = { audit: false, invalidates: nothing };

export const quotaMutations = {
  /** Stores the GCRA time of the bytes that an account stored. */
  putAccountCharge: mutation(rules, async (db: Db, userId: UserId, atMs: number): Promise<void> => {
    await db.updateTable('users').set({ publishChargedUntilMs: atMs }).where('id', '=', userId).execute();
  }),

  /** Stores the GCRA time of the invitations that an account mailed. */
  putAccountMailsCharge: mutation(rules, async (db: Db, userId: UserId, atMs: number): Promise<void> => {
    await db.updateTable('users').set({ mailsChargedUntilMs: atMs }).where('id', '=', userId).execute();
  }),

  /** Stores the GCRA times of the simulations of an account and an application. */
  putSimulationsCharge: mutation(
    rules,
    async (
      db: Db,
      { userId, appId }: SimulationPayers,
      { ofUser, ofApp }: { readonly ofUser: number; readonly ofApp: number },
    ): Promise<void> => {
      await db.updateTable('users').set({ simulationsChargedUntilMs: ofUser }).where('id', '=', userId).execute();
      await db.updateTable('apps').set({ simulationsChargedUntilMs: ofApp }).where('id', '=', appId).execute();
    },
  ),

  /** Sets a limit of an account or an application. */
  putQuotaOverride: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, override: QuotaOverrideRecord): Promise<void> => {
      const { value, updatedAtMs } = override;
      await db
        .insertInto('quota_overrides')
        .values(override)
        .onConflict((conflict) => conflict.columns(['subjectId', 'name']).doUpdateSet({ value, updatedAtMs }))
        .execute();
    },
  ),

  deleteQuotaOverride: statement(
    { audit: true, invalidates: nothing },
    (db: Db, subjectId: UserId | AppId, name: string) =>
      db.deleteFrom('quota_overrides').where('subjectId', '=', subjectId).where('name', '=', name),
  ),

  putQuotaWarning: mutation(rules, async (db: Db, warning: QuotaWarningRecord): Promise<void> => {
    const { percent, warnedAtMs } = warning;
    await db
      .insertInto('quota_warnings')
      .values(warning)
      .onConflict((conflict) => conflict.columns(['subjectId', 'name']).doUpdateSet({ percent, warnedAtMs }))
      .execute();
  }),

  /** Stores the GCRA time of a plugin's publishes. */
  putPluginCharge: mutation(rules, async (db: Db, key: PluginKey, atMs: number): Promise<void> => {
    await db.updateTable('plugins').set({ publishChargedUntilMs: atMs }).where(isOfPlugin('plugins', key)).execute();
  }),
};
