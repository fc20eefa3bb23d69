// Makes the next release of this one, for programs that are started with `--import` of this file: it has one migration more, which adds
// a table, and a column to each of the tables that requests read all columns of.
import { registerHooks } from 'node:module';

const migration = `
migrations.push({
  name: 'next release',
  async up(db, { text }) {
    await db.schema.createTable('next_release').addColumn('id', text, (column) => column.primaryKey()).execute();
    for (const table of ['apps', 'tokens', 'plugins', 'versions', 'bindings', 'blobs'])
      await db.schema.alterTable(table).addColumn('of_next_release', text).execute();
  },
});`;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/db/migrations/all.ts')) return loaded;
    return { ...loaded, source: `${loaded.source}${migration.replace('migrations.', '(migrations as Migration[]).')}` };
  },
});
