import type { Migration } from '../migrate.ts';

/** The plugin of a change event that names no list. */
export const pluginChanges: Migration = {
  name: 'plugin changes',
  async up(db, { text }) {
    await db.schema.alterTable('change_events').addColumn('userId', text).execute();
    await db.schema.alterTable('change_events').addColumn('pluginName', text).execute();
  },
};
