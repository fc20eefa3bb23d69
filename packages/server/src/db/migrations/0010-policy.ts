import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** What decides about new versions: minimum ages, blocked publishers, similar names, and the credential of each publish. */
export const policy: Migration = {
  name: 'publishing policy',
  async up(db, { text, bigint, json }) {
    await db.schema
      .alterTable('extension_points')
      .addColumn('minVersionAgeSeconds', bigint, (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable('versions').addColumn('releaseAtMs', bigint).execute();
    await db.schema.alterTable('versions').addColumn('credentialId', text).execute();
    await db.schema.alterTable('versions').addColumn('trustRuleId', text).execute();
    const index = (name: string) => db.schema.createIndex(name).on('versions');
    const coolingDown = index('versions_cooling_down').columns(['releaseAtMs', 'id']);
    await coolingDown.where(sql.ref('state'), '=', sql.lit('cooling_down')).execute();
    const published = index('versions_by_credential').columns(['credentialId', 'id']);
    await published.where(sql.ref('credentialId'), 'is not', null).execute();
    const trusted = index('versions_by_trust_rule').columns(['trustRuleId', 'id']);
    await trusted.where(sql.ref('trustRuleId'), 'is not', null).execute();
    await index('versions_by_publisher').columns(['userId', 'appId', 'id']).execute();
    await db.schema
      .createTable('blocked_publishers')
      .addColumn('appId', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('block', json, (column) => column.notNull())
      .addPrimaryKeyConstraint('blocked_publishers_pk', ['appId', 'userId'])
      .execute();
    await db.schema.createIndex('blocked_publishers_by_user').on('blocked_publishers').column('userId').execute();
    await db.schema
      .createTable('similar_names')
      .addColumn('extensionPointId', text, (column) => column.notNull())
      .addColumn('userId', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('otherUserId', text, (column) => column.notNull())
      .addColumn('otherName', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('similar_names_pk', ['extensionPointId', 'userId', 'name', 'otherUserId', 'otherName'])
      .addForeignKeyConstraint('similar_names_plugin', [...pluginKey], 'plugins', [...pluginKey], (key) =>
        key.onDelete('cascade'),
      )
      .execute();
  },
};

const pluginKey = ['extensionPointId', 'userId', 'name'] as const;
