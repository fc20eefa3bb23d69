import type { AppId, UserId } from '@tenon/protocol';
import { type RawBuilder, sql } from 'kysely';
import { type Db, isOfPlugin } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';
import type { PluginKey } from '../db/records.ts';

/** What quotas count. Each question is answered from an index; bytes are summed by plugin, which keeps the sum of its versions. */
const one = async <T>(db: Db, question: RawBuilder<T>): Promise<T> => (await question.execute(db)).rows[0] as T;
const count = async (db: Db, rows: RawBuilder<unknown>): Promise<number> =>
  (await one(db, sql<{ value: number }>`select count(*) as value ${rows}`)).value;

export const quotaQueries = {
  /** How many applications the user is an owner of. */
  countOwnedApps: (db: Db, userId: UserId): Promise<number> =>
    count(
      db,
      sql`
        from members join apps on apps.id = members."appId"
        where members."userId" = ${userId} and members.role = 'owner' and apps."deletedAtMs" is null
      `,
    ),

  /** How many of a user's tokens have not expired, without those of sessions. */
  countTokens: (db: Db, userId: UserId, nowMs: number): Promise<number> =>
    count(db, sql`from tokens where "userId" = ${userId} and "sessionId" is null and "expiresAtMs" > ${nowMs}`),

  /** How many of a user's API keys have not expired. */
  countApiKeys: (db: Db, userId: UserId, nowMs: number): Promise<number> =>
    count(db, sql`from api_keys where "userId" = ${userId} and "expiresAtMs" > ${nowMs}`),

  /** How many guests an application has, and invitations that can still be accepted. */
  async countGuests(db: Db, appId: AppId, nowMs: number): Promise<number> {
    const guests = await count(db, sql`from guests where "appId" = ${appId}`);
    // Written out, since a partial index serves only queries that can be seen to be within it.
    const open = sql`from invitations where "appId" = ${appId} and status = 'pending' and "expiresAtMs" > ${nowMs}`;
    return guests + (await count(db, open));
  },

  /** How many extension points an application has, and how many bytes their schemas have. */
  schemasOf: (db: Db, appId: AppId): Promise<{ readonly count: number; readonly bytes: number }> =>
    one(
      db,
      sql<{ count: number; bytes: number }>`
        select count(*) as count, cast(coalesce(sum(octet_length("schemaJson")), 0) as bigint) as bytes
        from extension_points where "appId" = ${appId} and "deletedAtMs" is null
      `,
    ),

  /** How many bytes a user's versions have. */
  async publishedBy(db: Db, userId: UserId): Promise<number> {
    const { bytes } = await one(
      db,
      sql<{ bytes: number }>`
        select cast(coalesce(sum(bytes), 0) as bigint) as bytes from plugins where "userId" = ${userId} and "deletedAtMs" is null
      `,
    );
    return bytes;
  },

  /** The time up to which the bytes that an account has stored are paid for; 0 for none. */
  async accountPaidAtMs(db: Db, userId: UserId): Promise<number> {
    const user = await db.selectFrom('users').select('publishPaidAtMs').where('id', '=', userId).executeTakeFirst();
    return user?.publishPaidAtMs ?? 0;
  },

  /** The time up to which the publishes of a plugin are paid for; 0 for none. */
  async pluginPaidAtMs(db: Db, key: PluginKey): Promise<number> {
    const plugin = await db
      .selectFrom('plugins')
      .select('publishPaidAtMs')
      .where(isOfPlugin('plugins', key))
      .executeTakeFirst();
    return plugin?.publishPaidAtMs ?? 0;
  },

  /** How many plugins there are in an application, and how many bytes their versions have. */
  publishedIn: (db: Db, appId: AppId): Promise<{ readonly plugins: number; readonly bytes: number }> =>
    one(
      db,
      sql<{ plugins: number; bytes: number }>`
        select count(*) as plugins, cast(coalesce(sum(bytes), 0) as bigint) as bytes from plugins where "appId" = ${appId} and "deletedAtMs" is null
      `,
    ),
};

/** What publishes count by; the version that a publish makes is audited. */
const paid = { audit: false, invalidates: nothing };

export const quotaMutations = {
  /** Stores the time up to which the bytes that an account has stored are paid for. */
  putAccountPaid: mutation(paid, async (db: Db, userId: UserId, atMs: number): Promise<void> => {
    await db.updateTable('users').set({ publishPaidAtMs: atMs }).where('id', '=', userId).execute();
  }),

  /** Stores the time up to which the publishes of a plugin are paid for. */
  putPluginPaid: mutation(paid, async (db: Db, key: PluginKey, atMs: number): Promise<void> => {
    await db.updateTable('plugins').set({ publishPaidAtMs: atMs }).where(isOfPlugin('plugins', key)).execute();
  }),
};
