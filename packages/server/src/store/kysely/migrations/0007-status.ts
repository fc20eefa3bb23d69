import type { Migration } from '../migrate.ts';

/*
 *   users ─── operators      who may see how the server is
 *   processes                what each process that serves tells of itself, now and then
 *   chores                   when each of the house's own works was last done, and what it came to
 *
 * Nobody becomes an operator by this: whoever has the machine says who is one (`tenon admin grant-operator`).
 */
export const status: Migration = {
  name: 'status',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('operators')
      .addColumn('user_id', text, (column) => column.notNull().primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('processes')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('node', text, (column) => column.notNull())
      .addColumn('pid', bigint, (column) => column.notNull())
      .addColumn('version', text, (column) => column.notNull())
      .addColumn('started_at_ms', bigint, (column) => column.notNull())
      .addColumn('last_seen_at_ms', bigint, (column) => column.notNull())
      .addColumn('report_json', text, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('processes_by_last_seen').on('processes').column('last_seen_at_ms').execute();
    await db.schema
      .createTable('chores')
      .addColumn('kind', text, (column) => column.notNull().primaryKey())
      .addColumn('ended_at_ms', bigint, (column) => column.notNull())
      .addColumn('outcome_json', text, (column) => column.notNull())
      .execute();
  },
};
