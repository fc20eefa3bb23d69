import type { AppId } from '@tenon/protocol';
import { sql } from 'kysely';
import { beforeAllNews, type NewsMutations, type NewsQueries } from '../../domain/news/ports.ts';
import { inChunks, setOf } from './paging.ts';
import type { Db } from './schema.ts';

export function newsQueries(db: Db): NewsQueries {
  return {
    async newsHeads(appIds) {
      const heads = await inChunks(appIds, (chunk) =>
        db.selectFrom('news_heads').select(['app_id', 'serial', 'mark']).where('app_id', 'in', chunk).execute(),
      );
      const known = new Map(heads.map(({ app_id, serial, mark }) => [app_id, { serial, mark }]));
      return new Map(appIds.map((appId) => [appId, known.get(appId) ?? beforeAllNews]));
    },
    news: (appId, afterSerial, limit) =>
      db
        .selectFrom('news')
        .select([
          'app_id as appId',
          'serial',
          'mark',
          'at_ms as atMs',
          'extension_point_id as extensionPointId',
          'guest_key as guestKey',
        ])
        .where('app_id', '=', appId)
        .where('serial', '>', afterSerial)
        .orderBy('serial')
        .limit(limit)
        .execute(),
    boundLists({ extensionPointId, guestIds, userId, name }) {
      let lists = db
        .selectFrom('plugins')
        .innerJoin('bindings', (join) =>
          join
            .onRef('bindings.extension_point_id', '=', 'plugins.extension_point_id')
            .onRef('bindings.user_id', '=', 'plugins.user_id')
            .onRef('bindings.name', '=', 'plugins.name'),
        )
        .innerJoin('guests', 'guests.id', 'bindings.guest_id')
        .select([
          'guests.app_id as appId',
          'bindings.extension_point_id as extensionPointId',
          'guests.guest_key as guestKey',
        ])
        .distinct()
        .where('bindings.version_id', 'is not', null);
      if (extensionPointId !== undefined) lists = lists.where('bindings.extension_point_id', '=', extensionPointId);
      // A set of one hides from the planner that one guest has few bindings.
      const [only, ...others] = guestIds ?? [];
      if (only !== undefined && others.length === 0) lists = lists.where('bindings.guest_id', '=', only);
      else if (guestIds !== undefined) lists = lists.where('bindings.guest_id', 'in', setOf(guestIds));
      if (userId !== undefined) lists = lists.where('plugins.user_id', '=', userId);
      if (name !== undefined) lists = lists.where('bindings.name', '=', name);
      return lists.execute();
    },
  };
}

/** How many rows one statement inserts at the most: databases bound the number of a statement's parameters. */
const rowsAtOnce = 100;

export function newsMutations(db: Db): NewsMutations {
  return {
    async insertNews(appId, lists, { mark, atMs, keep }) {
      // The row of the head is locked from here to the end of the transaction, which puts all who add in a row.
      const { serial: last } = await db
        .insertInto('news_heads')
        .values({ app_id: appId, serial: lists.length, mark })
        .onConflict((conflict) =>
          conflict.column('app_id').doUpdateSet({ serial: sql`news_heads.serial + ${lists.length}`, mark }),
        )
        .returning('serial')
        .executeTakeFirstOrThrow();
      const first = last - lists.length + 1;
      const rows = lists.map(({ extensionPointId, guestKey }, index) => ({
        app_id: appId,
        serial: first + index,
        mark,
        at_ms: atMs,
        extension_point_id: extensionPointId,
        guest_key: guestKey,
      }));
      const kept = rows.slice(-keep);
      for (let at = 0; at < kept.length; at += rowsAtOnce) {
        await db
          .insertInto('news')
          .values(kept.slice(at, at + rowsAtOnce))
          .execute();
      }
      if (last <= keep) return;
      await db
        .deleteFrom('news')
        .where('app_id', '=', appId)
        .where('serial', '<=', last - keep)
        .execute();
    },
    async resetNews(appId, _lists, { mark }) {
      await db
        .insertInto('news_heads')
        .values({ app_id: appId, serial: 1, mark })
        .onConflict((conflict) => conflict.column('app_id').doUpdateSet({ serial: sql`news_heads.serial + 1`, mark }))
        .execute();
      await db.deleteFrom('news').where('app_id', '=', appId).execute();
    },
    async deleteNewsBefore(beforeMs, limit) {
      const old = await db
        .selectFrom('news')
        .select(['app_id', 'serial'])
        .where('at_ms', '<', beforeMs)
        .orderBy('at_ms')
        .orderBy('app_id')
        .orderBy('serial')
        .limit(limit)
        .execute();
      // News goes from its beginning on, whatever a clock that was set back says, so that there is no gap in what stays.
      const upTo = new Map<AppId, number>();
      for (const { app_id, serial } of old) upTo.set(app_id, Math.max(serial, upTo.get(app_id) ?? 0));
      let deleted = 0;
      for (const [appId, serial] of upTo) {
        const { numDeletedRows } = await db
          .deleteFrom('news')
          .where('app_id', '=', appId)
          .where('serial', '<=', serial)
          .executeTakeFirstOrThrow();
        deleted += Number(numDeletedRows);
      }
      return deleted;
    },
  };
}
