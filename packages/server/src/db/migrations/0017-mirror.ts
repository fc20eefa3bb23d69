import type { Migration } from '../migrate.ts';

/** How far a mirror follows its source: in all, and in the change feed of each application. */
export const mirror: Migration = {
  name: 'mirror',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('mirror_states')
      .addColumn('source', text, (column) => column.notNull().primaryKey())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('detail', text)
      .addColumn('equalAtMs', bigint)
      .addColumn('completedAtMs', bigint)
      .addColumn('lists', bigint, (column) => column.notNull())
      .addColumn('missingLists', bigint, (column) => column.notNull())
      .addColumn('missingContents', bigint, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('mirrored_apps')
      .addColumn('appId', text, (column) => column.notNull().primaryKey().references('apps.id').onDelete('cascade'))
      .addColumn('position', text)
      .execute();
  },
};
