import type { Migration } from '../migrate.ts';

/*
 * A subject is what usage is counted for: an application, an extension point, a plugin, a version, or a guest. Its row ends with
 * what it stands for, and its days end with it.
 */
export const usage: Migration = {
  name: 'usage',
  async up(db, { text, bigint, json }) {
    const pluginKey: ('extensionPointId' | 'userId' | 'name')[] = ['extensionPointId', 'userId', 'name'];
    await db.schema
      .createTable('usage_subjects')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('appId', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('extensionPointId', text, (column) => column.references('extension_points.id').onDelete('cascade'))
      .addColumn('userId', text)
      .addColumn('name', text)
      .addColumn('versionId', text, (column) => column.references('versions.id').onDelete('cascade'))
      .addColumn('guestId', text, (column) => column.references('guests.id').onDelete('cascade'))
      .addColumn('listedAtMs', bigint)
      .addColumn('fetchedAtMs', bigint)
      .addColumn('reportedAtMs', bigint)
      .addForeignKeyConstraint('usage_subjects_plugin', pluginKey, 'plugins', pluginKey, (key) =>
        key.onDelete('cascade'),
      )
      .execute();
    const indexes = {
      usage_subjects_by_app: ['appId'],
      usage_subjects_by_plugin: [...pluginKey, 'versionId'],
      usage_subjects_by_version: ['versionId'],
      usage_subjects_by_guest: ['guestId'],
    };
    for (const [name, columns] of Object.entries(indexes)) {
      await db.schema.createIndex(name).on('usage_subjects').columns(columns).execute();
    }
    await db.schema
      .createTable('usage_days')
      .addColumn('subjectId', text, (column) => column.notNull().references('usage_subjects.id').onDelete('cascade'))
      .addColumn('dayMs', bigint, (column) => column.notNull())
      .addColumn('listRequests', bigint, (column) => column.notNull())
      .addColumn('contentFetches', bigint, (column) => column.notNull())
      .addColumn('loadReports', bigint, (column) => column.notNull())
      .addColumn('detail', json, (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_days_pk', ['subjectId', 'dayMs'])
      .execute();
    await db.schema
      .createTable('usage_writers')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('serial', bigint, (column) => column.notNull())
      .addColumn('atMs', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('usage_writers_by_time').on('usage_writers').column('atMs').execute();
    await db.schema.createIndex('usage_days_by_day').on('usage_days').columns(['dayMs', 'subjectId']).execute();
  },
};
