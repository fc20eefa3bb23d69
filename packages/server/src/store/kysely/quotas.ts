import { type RawBuilder, sql } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import type { Db } from './db.ts';

/** What quotas count. Each question is answered from an index; bytes are summed by plugin, which keeps the sum of its versions. */
export function quotaQueries(
  db: Db,
): Pick<
  Queries,
  | 'countOwnedApps'
  | 'countTokens'
  | 'countApiKeys'
  | 'countGuests'
  | 'schemasOf'
  | 'publishedBy'
  | 'publishPaid'
  | 'publishedIn'
> {
  const one = async <T>(question: RawBuilder<T>): Promise<T> => (await question.execute(db)).rows[0] as T;
  const count = async (rows: RawBuilder<unknown>): Promise<number> =>
    (await one(sql<{ value: number }>`select count(*) as value ${rows}`)).value;
  return {
    countOwnedApps: (userId) =>
      count(sql`
        from members join apps on apps.id = members."appId"
        where members."userId" = ${userId} and members.role = 'owner' and apps."deletedAtMs" is null
      `),
    countTokens: (userId, nowMs) =>
      count(sql`from tokens where "userId" = ${userId} and "sessionId" is null and "expiresAtMs" > ${nowMs}`),
    countApiKeys: (userId, nowMs) => count(sql`from api_keys where "userId" = ${userId} and "expiresAtMs" > ${nowMs}`),
    async countGuests(appId, nowMs) {
      const guests = await count(sql`from guests where "appId" = ${appId}`);
      // Written out, since a partial index serves only queries that can be seen to be within it.
      const open = sql`from invitations where "appId" = ${appId} and status = 'pending' and "expiresAtMs" > ${nowMs}`;
      return guests + (await count(open));
    },
    schemasOf: (appId) =>
      one(sql<{ count: number; bytes: number }>`
        select count(*) as count, cast(coalesce(sum(octet_length("schemaJson")), 0) as bigint) as bytes
        from extension_points where "appId" = ${appId} and "deletedAtMs" is null
      `),
    async publishedBy(userId) {
      const { bytes } = await one(sql<{ bytes: number }>`
        select cast(coalesce(sum(bytes), 0) as bigint) as bytes from plugins where "userId" = ${userId} and "deletedAtMs" is null
      `);
      return bytes;
    },
    async publishPaid({ extensionPointId, userId, name }) {
      const user = await db
        .selectFrom('users')
        .select('publishPaidAtMs as atMs')
        .where('id', '=', userId)
        .executeTakeFirst();
      const plugin = await db
        .selectFrom('plugins')
        .select('publishPaidAtMs as atMs')
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
        .where('name', '=', name)
        .executeTakeFirst();
      return { accountAtMs: user?.atMs ?? 0, pluginAtMs: plugin?.atMs ?? 0 };
    },
    publishedIn: (appId) =>
      one(sql<{ plugins: number; bytes: number }>`
        select count(*) as plugins, cast(coalesce(sum(bytes), 0) as bigint) as bytes from plugins where "appId" = ${appId} and "deletedAtMs" is null
      `),
  };
}

export function quotaMutations(db: Db): Pick<Mutations, 'payPublish'> {
  return {
    async payPublish({ extensionPointId, userId, name }, { accountAtMs, pluginAtMs }) {
      if (accountAtMs !== undefined) {
        await db.updateTable('users').set({ publishPaidAtMs: accountAtMs }).where('id', '=', userId).execute();
      }
      if (pluginAtMs === undefined) return;
      await db
        .updateTable('plugins')
        .set({ publishPaidAtMs: pluginAtMs })
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
        .where('name', '=', name)
        .execute();
    },
  };
}
