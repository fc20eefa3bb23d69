import type { Migration } from '../migrate.ts';

/** The simulations of extension points. The bytes of their modules are in the blob store. */
export const simulations: Migration = {
  name: 'simulations',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('simulations')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('extensionPointId', text, (column) =>
        column.notNull().references('extension_points.id').onDelete('cascade'),
      )
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('revision', bigint, (column) => column.notNull())
      .addColumn('testModule', text)
      .addColumn('testModuleSize', bigint)
      .addColumn('mockHost', text)
      .addColumn('mockHostSize', bigint)
      .addColumn('bytes', bigint, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('updatedAtMs', bigint, (column) => column.notNull())
      .addColumn('mockInputBase64', text)
      .addColumn('fixturesJson', text)
      .addUniqueConstraint('simulations_name', ['extensionPointId', 'name'])
      .execute();
    await db.schema.createIndex('simulations_by_test').on('simulations').column('testModule').execute();
    await db.schema.createIndex('simulations_by_mock').on('simulations').column('mockHost').execute();
  },
};
