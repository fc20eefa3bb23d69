import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** The tests of versions against simulations: a queue, and the results. */
export const simulationRuns: Migration = {
  name: 'simulation runs',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('simulation_runs')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('versionId', text, (column) => column.notNull().references('versions.id').onDelete('cascade'))
      .addColumn('userId', text, (column) => column.notNull())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('verdict', text)
      .addColumn('detail', text)
      .addColumn('attempts', bigint, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('dueAtMs', bigint, (column) => column.notNull())
      .addColumn('startedAtMs', bigint)
      .addColumn('reportsJson', text, (column) => column.notNull())
      .execute();
    const index = (name: string) => db.schema.createIndex(name).on('simulation_runs');
    const isOpen = sql.ref('state');
    await index('simulation_runs_by_version').columns(['versionId', 'id']).execute();
    await index('simulation_runs_by_user').columns(['userId', 'startedAtMs']).execute();
    await index('simulation_runs_due')
      .columns(['state', 'dueAtMs', 'id'])
      .where(isOpen, '<>', sql.lit('done'))
      .execute();
    const open = index('simulation_runs_open').unique().column('versionId');
    await open.where(isOpen, '<>', sql.lit('done')).execute();
  },
};
