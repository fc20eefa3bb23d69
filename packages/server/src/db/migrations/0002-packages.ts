import type { Migration } from '../migrate.ts';

/** The archives of packages that servers of this store have offered, so that lock files that name them stay valid. */
export const packages: Migration = {
  name: 'packages',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('packages')
      .addColumn('file', text, (column) => column.notNull().primaryKey())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('version', text, (column) => column.notNull())
      .addColumn('size', bigint, (column) => column.notNull())
      .addColumn('integrity', text, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('package_parts')
      .addColumn('file', text, (column) => column.notNull().references('packages.file').onDelete('cascade'))
      .addColumn('number', bigint, (column) => column.notNull())
      .addColumn('base64', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('package_parts_pk', ['file', 'number'])
      .execute();
  },
};
