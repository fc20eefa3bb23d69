import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Where credentials are used, the operator's quotas, and the quotas of simulations and their reports. */
export const quotas: Migration = {
  name: 'quotas',
  async up(db, { text, bigint, json }) {
    await db.schema.alterTable('sessions').addColumn('lastUsedAddress', text).execute();
    for (const table of ['tokens', 'api_keys']) {
      const column = (name: string, type: typeof text) => db.schema.alterTable(table).addColumn(name, type).execute();
      await column('lastUsedAddress', text);
      await column('usedNetworks', json);
      await column('expiryWarnedAtMs', bigint);
    }
    const isUnwarned = sql.ref('expiryWarnedAtMs');
    const unwarnedTokens = db.schema.createIndex('tokens_unwarned').on('tokens').column('expiresAtMs');
    await unwarnedTokens.where(sql.ref('sessionId'), 'is', null).where(isUnwarned, 'is', null).execute();
    const unwarnedKeys = db.schema.createIndex('api_keys_unwarned').on('api_keys').column('expiresAtMs');
    await unwarnedKeys.where(isUnwarned, 'is', null).execute();

    await db.schema.alterTable('users').addColumn('simulationsChargedUntilMs', bigint).execute();
    await db.schema.alterTable('apps').addColumn('simulationsChargedUntilMs', bigint).execute();
    await db.schema.alterTable('simulation_runs').addColumn('appId', text).execute();
    await db.schema.alterTable('simulation_runs').addColumn('reportBytes', bigint).execute();
    await sql`
      update simulation_runs set
        "appId" = (select v."appId" from versions v where v.id = simulation_runs."versionId"),
        "reportBytes" = case when "reportsJson" = '[]' then 0 else octet_length("reportsJson") end
    `.execute(db);
    const reports = db.schema.createIndex('simulation_runs_reports').on('simulation_runs');
    await reports.columns(['appId', 'reportBytes']).where(sql.ref('reportBytes'), '>', sql.lit(0)).execute();

    await db.schema
      .createTable('quota_overrides')
      .addColumn('subjectId', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('userId', text, (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('appId', text, (column) => column.references('apps.id').onDelete('cascade'))
      .addColumn('value', bigint, (column) => column.notNull())
      .addColumn('updatedAtMs', bigint, (column) => column.notNull())
      .addPrimaryKeyConstraint('quota_overrides_pk', ['subjectId', 'name'])
      .execute();
    await db.schema
      .createTable('quota_warnings')
      .addColumn('subjectId', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('userId', text, (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('appId', text, (column) => column.references('apps.id').onDelete('cascade'))
      .addColumn('percent', bigint, (column) => column.notNull())
      .addColumn('warnedAtMs', bigint, (column) => column.notNull())
      .addPrimaryKeyConstraint('quota_warnings_pk', ['subjectId', 'name'])
      .execute();
    for (const table of ['quota_overrides', 'quota_warnings']) {
      for (const column of ['userId', 'appId']) {
        const name = `${table}_by_${column === 'userId' ? 'user' : 'app'}`;
        await db.schema.createIndex(name).on(table).column(column).execute();
      }
    }
  },
};
