import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Staged roll-outs of versions, the default plans of extension points, and the rings of guests. */
export const rollOuts: Migration = {
  name: 'staged roll-outs',
  async up(db, { text, bigint, json }) {
    await db.schema.alterTable('extension_points').addColumn('rollOut', json).execute();
    await db.schema.alterTable('guests').addColumn('ring', text).execute();
    await db.schema
      .createTable('roll_outs')
      .addColumn('versionId', text, (column) =>
        column.notNull().primaryKey().references('versions.id').onDelete('cascade'),
      )
      .addColumn('appId', text, (column) => column.notNull())
      .addColumn('extensionPointId', text, (column) => column.notNull())
      .addColumn('userId', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('plan', json, (column) => column.notNull())
      .addColumn('step', bigint, (column) => column.notNull())
      .addColumn('reason', text)
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('stepAtMs', bigint, (column) => column.notNull())
      .addColumn('updatedAtMs', bigint, (column) => column.notNull())
      .addColumn('dueAtMs', bigint)
      .addColumn('endedAtMs', bigint)
      .execute();
    const index = (name: string) => db.schema.createIndex(name).on('roll_outs');
    await index('roll_outs_by_app').columns(['appId', 'versionId']).execute();
    await index('roll_outs_by_state').columns(['appId', 'state', 'versionId']).execute();
    const open = index('roll_outs_open').columns(['extensionPointId', 'userId', 'name']);
    await open.where(sql.ref('endedAtMs'), 'is', null).execute();
    const openOfApp = index('roll_outs_open_of_app').columns(['appId', 'versionId']);
    await openOfApp.where(sql.ref('endedAtMs'), 'is', null).execute();
    const due = index('roll_outs_due').columns(['dueAtMs', 'versionId']);
    await due.where(sql.ref('dueAtMs'), 'is not', null).execute();
  },
};
