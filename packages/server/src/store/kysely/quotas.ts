import { type RawBuilder, sql } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import type { Db } from './schema.ts';

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
        from members join apps on apps.id = members.app_id
        where members.user_id = ${userId} and members.role = 'owner' and apps.deleted_at_ms is null
      `),
    countTokens: (userId, nowMs) =>
      count(sql`from tokens where user_id = ${userId} and session_id is null and expires_at_ms > ${nowMs}`),
    countApiKeys: (userId, nowMs) => count(sql`from api_keys where user_id = ${userId} and expires_at_ms > ${nowMs}`),
    async countGuests(appId, nowMs) {
      const guests = await count(sql`from guests where app_id = ${appId}`);
      // Written out, since a partial index serves only queries that can be seen to be within it.
      const open = sql`from invitations where app_id = ${appId} and status = 'pending' and expires_at_ms > ${nowMs}`;
      return guests + (await count(open));
    },
    schemasOf: (appId) =>
      one(sql<{ count: number; bytes: number }>`
        select count(*) as count, cast(coalesce(sum(octet_length(schema_json)), 0) as bigint) as bytes
        from extension_points where app_id = ${appId} and deleted_at_ms is null
      `),
    async publishedBy(userId) {
      const { bytes } = await one(sql<{ bytes: number }>`
        select cast(coalesce(sum(bytes), 0) as bigint) as bytes from plugins where user_id = ${userId} and deleted_at_ms is null
      `);
      return bytes;
    },
    async publishPaid({ extensionPointId, userId, name }) {
      const user = await db
        .selectFrom('users')
        .select('publish_paid_at_ms as atMs')
        .where('id', '=', userId)
        .executeTakeFirst();
      const plugin = await db
        .selectFrom('plugins')
        .select('publish_paid_at_ms as atMs')
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .executeTakeFirst();
      return { accountAtMs: user?.atMs ?? 0, pluginAtMs: plugin?.atMs ?? 0 };
    },
    publishedIn: (appId) =>
      one(sql<{ plugins: number; bytes: number }>`
        select count(*) as plugins, cast(coalesce(sum(bytes), 0) as bigint) as bytes from plugins where app_id = ${appId} and deleted_at_ms is null
      `),
  };
}

export function quotaMutations(db: Db): Pick<Mutations, 'payPublish'> {
  return {
    async payPublish({ extensionPointId, userId, name }, { accountAtMs, pluginAtMs }) {
      if (accountAtMs !== undefined) {
        await db.updateTable('users').set({ publish_paid_at_ms: accountAtMs }).where('id', '=', userId).execute();
      }
      if (pluginAtMs === undefined) return;
      await db
        .updateTable('plugins')
        .set({ publish_paid_at_ms: pluginAtMs })
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .execute();
    },
  };
}
