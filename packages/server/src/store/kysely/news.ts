import type { AppId } from '@tenon/protocol';
import { sql } from 'kysely';
import { beforeAllNews, type NewsMutations, type NewsQueries } from '../../domain/news/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { inChunks, setOf } from './paging.ts';

export function newsQueries(db: Db): NewsQueries {
  return {
    async newsHeads(appIds) {
      const heads = await inChunks(appIds, (chunk) =>
        db.selectFrom('news_heads').select(['appId', 'serial', 'mark']).where('appId', 'in', chunk).execute(),
      );
      const known = new Map(heads.map(({ appId, serial, mark }) => [appId, { serial, mark }]));
      return new Map(appIds.map((appId) => [appId, known.get(appId) ?? beforeAllNews]));
    },
    news: (appId, afterSerial, limit) =>
      db
        .selectFrom('news')
        .select(columns.news)
        .where('appId', '=', appId)
        .where('serial', '>', afterSerial)
        .orderBy('serial')
        .limit(limit)
        .execute(),
    boundLists({ extensionPointId, guestIds, userId, name }) {
      let lists = db
        .selectFrom('plugins')
        .innerJoin('bindings', (join) =>
          join
            .onRef('bindings.extensionPointId', '=', 'plugins.extensionPointId')
            .onRef('bindings.userId', '=', 'plugins.userId')
            .onRef('bindings.name', '=', 'plugins.name'),
        )
        .innerJoin('guests', 'guests.id', 'bindings.guestId')
        .select(['guests.appId', 'bindings.extensionPointId', 'guests.guestKey'])
        .distinct()
        .where('bindings.versionId', 'is not', null);
      if (extensionPointId !== undefined) lists = lists.where('bindings.extensionPointId', '=', extensionPointId);
      // A set of one hides from the planner that one guest has few bindings.
      const [only, ...others] = guestIds ?? [];
      if (only !== undefined && others.length === 0) lists = lists.where('bindings.guestId', '=', only);
      else if (guestIds !== undefined) lists = lists.where('bindings.guestId', 'in', setOf(guestIds));
      if (userId !== undefined) lists = lists.where('plugins.userId', '=', userId);
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
        .values({ appId, serial: lists.length, mark })
        .onConflict((conflict) =>
          conflict.column('appId').doUpdateSet({ serial: sql`news_heads.serial + ${lists.length}`, mark }),
        )
        .returning('serial')
        .executeTakeFirstOrThrow();
      const first = last - lists.length + 1;
      const rows = lists.map(({ extensionPointId, guestKey }, index) => ({
        appId,
        serial: first + index,
        mark,
        atMs,
        extensionPointId,
        guestKey,
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
        .where('appId', '=', appId)
        .where('serial', '<=', last - keep)
        .execute();
    },
    async resetNews(appId, _lists, { mark }) {
      await db
        .insertInto('news_heads')
        .values({ appId, serial: 1, mark })
        .onConflict((conflict) => conflict.column('appId').doUpdateSet({ serial: sql`news_heads.serial + 1`, mark }))
        .execute();
      await db.deleteFrom('news').where('appId', '=', appId).execute();
    },
    async deleteNewsBefore(beforeMs, limit) {
      const old = await db
        .selectFrom('news')
        .select(['appId', 'serial'])
        .where('atMs', '<', beforeMs)
        .orderBy('atMs')
        .orderBy('appId')
        .orderBy('serial')
        .limit(limit)
        .execute();
      // News goes from its beginning on, whatever a clock that was set back says, so that there is no gap in what stays.
      const upTo = new Map<AppId, number>();
      for (const { appId, serial } of old) upTo.set(appId, Math.max(serial, upTo.get(appId) ?? 0));
      let deleted = 0;
      for (const [appId, serial] of upTo) {
        const { numDeletedRows } = await db
          .deleteFrom('news')
          .where('appId', '=', appId)
          .where('serial', '<=', serial)
          .executeTakeFirstOrThrow();
        deleted += Number(numDeletedRows);
      }
      return deleted;
    },
  };
}
