import type { ContentAddress, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns, type WithdrawalRecord } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { setOf } from './paging.ts';

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
        .select(columns.withdrawals)
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
        .where('contentAddress', '=', contentAddress)
        .execute();
      const versions = await db
        .selectFrom('versions')
        .innerJoin('plugins', (join) =>
          join
            .onRef('plugins.extensionPointId', '=', 'versions.extensionPointId')
            .onRef('plugins.userId', '=', 'versions.userId')
            .onRef('plugins.name', '=', 'versions.name'),
        )
        .select(columns.versions)
        .select('plugins.block')
        .where('versions.contentAddress', '=', contentAddress)
        .where('versions.appId', '=', (eb) =>
          eb.selectFrom('extension_points').select('appId').where('id', '=', extensionPointId),
        )
        .where('versions.userId', '=', userId)
        .where('versions.extensionPointId', '=', extensionPointId)
        .execute();
      const about = { extensionPointId, userId, contentAddress };
      const blocked = versions.flatMap(({ name, block }): WithdrawalRecord[] =>
        block === null ? [] : [{ ...about, name, state: 'blocked', ...block }],
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
        .select(columns.versions)
        .where('versions.appId', '=', (eb) =>
          eb.selectFrom('extension_points').select('appId').where('id', '=', extensionPointId),
        )
        .where('versions.userId', '=', userId)
        .where('versions.extensionPointId', '=', extensionPointId)
        .where('versions.state', '=', 'published');
      if (contentAddress !== undefined) {
        return copies.where('versions.contentAddress', '=', contentAddress).execute();
      }
      return copies
        .where('versions.name', '<>', name)
        .where('versions.contentAddress', 'in', (eb) =>
          eb
            .selectFrom('versions as own')
            .select('own.contentAddress')
            .where('own.extensionPointId', '=', extensionPointId)
            .where('own.userId', '=', userId)
            .where('own.name', '=', name),
        )
        .execute();
    },
    withdrawal: (extensionPointId, { userId, contentAddress }) =>
      db
        .selectFrom('withdrawals')
        .select(columns.withdrawals)
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId as UserId)
        .where('contentAddress', '=', contentAddress as ContentAddress)
        .executeTakeFirst(),
    withdrawals(extensionPointId, { after, limit }) {
      let all = db
        .selectFrom('withdrawals')
        .innerJoin('users', 'users.id', 'withdrawals.userId')
        .select(columns.withdrawals)
        .select('users.name as userName')
        .where('withdrawals.extensionPointId', '=', extensionPointId)
        .orderBy('withdrawals.userId')
        .orderBy('withdrawals.contentAddress');
      if (after !== undefined) {
        const [userId = '', address = ''] = after.split('/');
        all = all.where((eb) =>
          eb(
            eb.refTuple('withdrawals.userId', 'withdrawals.contentAddress'),
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
        .select(['guestId', 'untilMs'])
        .where('extensionPointId', '=', extensionPointId)
        .where('guestId', 'in', setOf(guestIds))
        .where('name', '=', name)
        .where('userId', '!=', userId)
        .where('untilMs', '>', nowMs)
        .orderBy('guestId')
        .execute(),
    async labelUse({ extensionPointId, userId, name }, semver) {
      const version = await db
        .selectFrom('versions')
        .select('number')
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
        .where('name', '=', name)
        .where('semver', '=', semver)
        .executeTakeFirst();
      if (version !== undefined) return { number: version.number, untilMs: null };
      const retired = await db
        .selectFrom('retired_labels')
        .select('untilMs')
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
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
      const key = sql`v."extensionPointId" = ${extensionPointId} and v."userId" = ${userId} and v.name = ${name}`;
      const into = sql`
        insert into withdrawals ("extensionPointId", "userId", "contentAddress", name, state, reason, "atMs")
        select v."extensionPointId", v."userId", v."contentAddress", v.name`;
      const group = sql`
        from versions v where ${key} group by v."extensionPointId", v."userId", v."contentAddress", v.name`;
      const replace = sql`
        on conflict ("extensionPointId", "userId", "contentAddress") do update set
          name = excluded.name, state = excluded.state, reason = excluded.reason, "atMs" = excluded."atMs"`;
      for (const state of ['rejected', 'yanked'] as const) {
        const isWithdrawn = sql`v.state = ${sql.lit(state)} and v."stateSide" = 'host'`;
        await sql`
          ${into}, ${sql.lit(state)}, max(case when ${isWithdrawn} then v."stateReason" end), ${at(atMs)} ${group}
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
        update retired_labels set "untilMs" = ${untilMs}
        where "extensionPointId" = ${extensionPointId} and "userId" = ${userId} and name = ${name}
      `.execute(db);
      await sql`
        insert into retired_labels ("extensionPointId", "userId", name, semver, "untilMs")
        select distinct v."extensionPointId", v."userId", v.name, v.semver, ${at(untilMs)}
        from versions v where ${key} and v.semver is not null
        on conflict ("extensionPointId", "userId", name, semver) do update set "untilMs" = excluded."untilMs"
      `.execute(db);
    },
    async reserveName({ extensionPointId, userId, name }, guestIds, untilMs) {
      // `where true` keeps SQLite from taking `on` for a join's.
      await sql`
        insert into name_reservations ("extensionPointId", "guestId", name, "userId", "untilMs")
        select ${extensionPointId}, key, ${name}, ${userId}, ${at(untilMs)} from ${setOf(guestIds)} as guests where true
        on conflict ("extensionPointId", "guestId", name) do update set
          "userId" = excluded."userId", "untilMs" = excluded."untilMs"
      `.execute(db);
    },
    async deleteWithdrawal({ extensionPointId, userId, contentAddress }) {
      await db
        .deleteFrom('withdrawals')
        .where('extensionPointId', '=', extensionPointId)
        .where('userId', '=', userId)
        .where('contentAddress', '=', contentAddress)
        .execute();
    },
  };
}

/** A time as a column of a select: PostgreSQL can't infer a parameter's type there. */
function at(ms: number) {
  return sql`cast(${ms} as bigint)`;
}
