import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Reports of hosts about the calls of versions in a staged roll-out. */
export const callReports: Migration = {
  name: 'call reports',
  async up(db, { text, bigint, json }) {
    await db.schema
      .createTable('call_reports')
      .addColumn('versionId', text, (column) => column.notNull().references('roll_outs.versionId').onDelete('cascade'))
      .addColumn('series', text, (column) => column.notNull())
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('fromMs', bigint, (column) => column.notNull())
      .addColumn('calls', bigint, (column) => column.notNull())
      .addColumn('errors', bigint, (column) => column.notNull())
      .addColumn('durations', json, (column) => column.notNull())
      .addColumn('memoryBytes', bigint)
      .addPrimaryKeyConstraint('call_reports_pk', ['versionId', 'series', 'kind', 'fromMs'])
      .execute();
    // A whole index would be chosen for open roll-outs, which have an index of their own.
    const ended = db.schema.createIndex('roll_outs_by_end').on('roll_outs').columns(['endedAtMs', 'versionId']);
    await ended.where(sql.ref('endedAtMs'), 'is not', null).execute();
  },
};
