import type { Migration } from '../migrate.ts';

/** Which states an extension point has from bundles, and when bindings of it were deleted, so that its own state never seems older. */
export const bundleImports: Migration = {
  name: 'imports of bundles',
  async up(db, { bigint, json }) {
    const points = () => db.schema.alterTable('extension_points');
    await points()
      .addColumn('imports', json, (column) => column.notNull().defaultTo('{}'))
      .execute();
    await points()
      .addColumn('bindingsDeletedAtMs', bigint, (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
