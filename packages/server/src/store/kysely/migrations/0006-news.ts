import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/*
 *   apps ─── news_heads      where the application's news stands
 *      └──── news            what changed up to there, for as long as it is kept
 *
 * No foreign keys to extension points and guests: that one is gone is news too. An application without a row in `news_heads`
 * has had no news yet. Those that were there before have a row with a mark of this migration, so that nobody takes the news
 * that follows it for the news that followed another one, in a copy of the data from before it.
 */
export const news: Migration = {
  name: 'news',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('news_heads')
      .addColumn('app_id', text, (column) => column.notNull().primaryKey().references('apps.id').onDelete('cascade'))
      .addColumn('serial', bigint, (column) => column.notNull())
      .addColumn('mark', text, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('news')
      .addColumn('app_id', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('serial', bigint, (column) => column.notNull())
      .addColumn('mark', text, (column) => column.notNull())
      .addColumn('at_ms', bigint, (column) => column.notNull())
      .addColumn('extension_point_id', text, (column) => column.notNull())
      .addColumn('guest_key', text)
      .addPrimaryKeyConstraint('news_pk', ['app_id', 'serial'])
      .execute();
    await db.schema.createIndex('news_by_time').on('news').columns(['at_ms', 'app_id', 'serial']).execute();
    const mark = randomBytes(8).toString('hex');
    await sql`insert into news_heads (app_id, serial, mark) select id, 0, ${mark} from apps`.execute(db);
  },
};
