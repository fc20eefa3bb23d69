import type { ContentAddress, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import type { WithdrawalRecord } from '../../domain/records.ts';
import { setOf } from './paging.ts';
import type { Db } from './schema.ts';
import { versionColumns } from './versions.ts';

const withdrawalColumns = [
  'withdrawals.extension_point_id as extensionPointId',
  'withdrawals.user_id as userId',
  'withdrawals.content_address as contentAddress',
  'withdrawals.name',
  'withdrawals.state',
  'withdrawals.reason',
  'withdrawals.at_ms as atMs',
] as const;

type WithdrawalQueries = Pick<
  Queries,
  'withdrawalsOf' | 'publishedCopies' | 'withdrawal' | 'withdrawals' | 'nameReservations' | 'labelUse'
>;

/** What the team withdrew, and what a deleted plugin leaves behind. */
export function withdrawalQueries(db: Db): WithdrawalQueries {
  return {
    async withdrawalsOf(extensionPointId, userId, contentAddress) {
      const kept = db
        .selectFrom('withdrawals')
        .select(withdrawalColumns)
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('content_address', '=', contentAddress)
        .execute();
      const versions = await db
        .selectFrom('versions')
        .innerJoin('plugins', (join) =>
          join
            .onRef('plugins.extension_point_id', '=', 'versions.extension_point_id')
            .onRef('plugins.user_id', '=', 'versions.user_id')
            .onRef('plugins.name', '=', 'versions.name'),
        )
        .select(versionColumns)
        .select(['plugins.blocked_at_ms as blockedAtMs', 'plugins.blocked_reason as blockedReason'])
        .where('versions.content_address', '=', contentAddress)
        .where('versions.app_id', '=', (eb) =>
          eb.selectFrom('extension_points').select('app_id').where('id', '=', extensionPointId),
        )
        .where('versions.user_id', '=', userId)
        .where('versions.extension_point_id', '=', extensionPointId)
        .execute();
      const about = { extensionPointId, userId, contentAddress };
      const blocked = versions.flatMap(({ name, blockedAtMs, blockedReason }): WithdrawalRecord[] =>
        blockedAtMs === null ? [] : [{ ...about, name, state: 'blocked', reason: blockedReason, atMs: blockedAtMs }],
      );
      const isPublished = versions.some(({ state }) => state === 'published');
      const decided = versions.flatMap(({ name, state, stateReason, stateAtMs, stateSide }): WithdrawalRecord[] =>
        stateSide === 'host' && !isPublished && (state === 'yanked' || state === 'rejected')
          ? [{ ...about, name, state, reason: stateReason, atMs: stateAtMs }]
          : [],
      );
      return [...blocked, ...decided, ...(await kept)];
    },
    async publishedCopies({ extensionPointId, userId, name }, contentAddress) {
      const copies = db
        .selectFrom('versions')
        .select(versionColumns)
        .where('versions.app_id', '=', (eb) =>
          eb.selectFrom('extension_points').select('app_id').where('id', '=', extensionPointId),
        )
        .where('versions.user_id', '=', userId)
        .where('versions.extension_point_id', '=', extensionPointId)
        .where('versions.state', '=', 'published');
      if (contentAddress !== undefined) {
        return copies.where('versions.content_address', '=', contentAddress).execute();
      }
      return copies
        .where('versions.name', '<>', name)
        .where('versions.content_address', 'in', (eb) =>
          eb
            .selectFrom('versions as own')
            .select('own.content_address')
            .where('own.extension_point_id', '=', extensionPointId)
            .where('own.user_id', '=', userId)
            .where('own.name', '=', name),
        )
        .execute();
    },
    withdrawal: (extensionPointId, { userId, contentAddress }) =>
      db
        .selectFrom('withdrawals')
        .select(withdrawalColumns)
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId as UserId)
        .where('content_address', '=', contentAddress as ContentAddress)
        .executeTakeFirst(),
    withdrawals(extensionPointId, { after, limit }) {
      let all = db
        .selectFrom('withdrawals')
        .innerJoin('users', 'users.id', 'withdrawals.user_id')
        .select(withdrawalColumns)
        .select('users.name as userName')
        .where('withdrawals.extension_point_id', '=', extensionPointId)
        .orderBy('withdrawals.user_id')
        .orderBy('withdrawals.content_address');
      if (after !== undefined) {
        const [userId = '', address = ''] = after.split('/');
        all = all.where((eb) =>
          eb(
            eb.refTuple('withdrawals.user_id', 'withdrawals.content_address'),
            '>',
            eb.tuple(sql.val(userId), sql.val(address)) as never,
          ),
        );
      }
      return (limit === undefined ? all : all.limit(limit)).execute();
    },
    nameReservations: ({ extensionPointId, userId, name }, guestIds, nowMs) =>
      db
        .selectFrom('name_reservations')
        .select(['guest_id as guestId', 'until_ms as untilMs'])
        .where('extension_point_id', '=', extensionPointId)
        .where('guest_id', 'in', setOf(guestIds))
        .where('name', '=', name)
        .where('user_id', '!=', userId)
        .where('until_ms', '>', nowMs)
        .orderBy('guest_id')
        .execute(),
    async labelUse({ extensionPointId, userId, name }, semver) {
      const version = await db
        .selectFrom('versions')
        .select('number')
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .where('semver', '=', semver)
        .executeTakeFirst();
      if (version !== undefined) return { number: version.number, untilMs: null };
      const retired = await db
        .selectFrom('retired_labels')
        .select('until_ms as untilMs')
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('name', '=', name)
        .where('semver', '=', semver)
        .executeTakeFirst();
      return retired && { number: null, untilMs: retired.untilMs };
    },
  };
}

export function withdrawalMutations(db: Db): Pick<Mutations, 'retirePlugin' | 'reserveName' | 'deleteWithdrawal'> {
  return {
    async retirePlugin({ extensionPointId, userId, name, block }, { atMs, untilMs }) {
      const key = sql`v.extension_point_id = ${extensionPointId} and v.user_id = ${userId} and v.name = ${name}`;
      const into = sql`
        insert into withdrawals (extension_point_id, user_id, content_address, name, state, reason, at_ms)
        select v.extension_point_id, v.user_id, v.content_address, v.name`;
      const group = sql`
        from versions v where ${key} group by v.extension_point_id, v.user_id, v.content_address, v.name`;
      const replace = sql`
        on conflict (extension_point_id, user_id, content_address) do update set
          name = excluded.name, state = excluded.state, reason = excluded.reason, at_ms = excluded.at_ms`;
      for (const state of ['rejected', 'yanked'] as const) {
        const isWithdrawn = sql`v.state = ${sql.lit(state)} and v.state_side = 'host'`;
        await sql`
          ${into}, ${sql.lit(state)}, max(case when ${isWithdrawn} then v.state_reason end), ${at(atMs)} ${group}
          having sum(case when v.state = 'published' then 1 else 0 end) = 0
            and sum(case when ${isWithdrawn} then 1 else 0 end) > 0
          ${state === 'rejected' ? sql`on conflict do nothing` : sql`${replace} where withdrawals.state <> 'blocked'`}
        `.execute(db);
      }
      if (block !== null) {
        const reason = sql`cast(${block.reason} as text)`;
        await sql`${into}, 'blocked', ${reason}, ${at(atMs)} ${group} ${replace}`.execute(db);
      }
      await sql`
        update retired_labels set until_ms = ${untilMs}
        where extension_point_id = ${extensionPointId} and user_id = ${userId} and name = ${name}
      `.execute(db);
      await sql`
        insert into retired_labels (extension_point_id, user_id, name, semver, until_ms)
        select distinct v.extension_point_id, v.user_id, v.name, v.semver, ${at(untilMs)}
        from versions v where ${key} and v.semver is not null
        on conflict (extension_point_id, user_id, name, semver) do update set until_ms = excluded.until_ms
      `.execute(db);
    },
    async reserveName({ extensionPointId, userId, name }, guestIds, untilMs) {
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into name_reservations (extension_point_id, guest_id, name, user_id, until_ms)
        select ${extensionPointId}, key, ${name}, ${userId}, ${at(untilMs)} from ${setOf(guestIds)} as guests where true
        on conflict (extension_point_id, guest_id, name) do update set
          user_id = excluded.user_id, until_ms = excluded.until_ms
      `.execute(db);
    },
    async deleteWithdrawal({ extensionPointId, userId, contentAddress }) {
      await db
        .deleteFrom('withdrawals')
        .where('extension_point_id', '=', extensionPointId)
        .where('user_id', '=', userId)
        .where('content_address', '=', contentAddress)
        .execute();
    },
  };
}

/** A time as a column of a select: PostgreSQL can't infer a parameter's type there. */
function at(ms: number) {
  return sql`cast(${ms} as bigint)`;
}
