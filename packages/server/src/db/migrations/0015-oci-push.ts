import type { Migration } from '../migrate.ts';

/** The uploads of OCI clients, and the images that they pushed. */
export const ociPush: Migration = {
  name: 'OCI push',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('oci_uploads')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('extensionPointId', text, (column) =>
        column.notNull().references('extension_points.id').onDelete('cascade'),
      )
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('size', bigint, (column) => column.notNull())
      .addColumn('contentAddress', text)
      .addColumn('expiresAtMs', bigint, (column) => column.notNull())
      .execute();
    const uploads = (name: string) => db.schema.createIndex(name).on('oci_uploads');
    await uploads('oci_uploads_by_plugin').columns(['extensionPointId', 'userId', 'name']).execute();
    await uploads('oci_uploads_by_user').column('userId').execute();
    await uploads('oci_uploads_by_end').column('expiresAtMs').execute();
    await db.schema
      .createTable('oci_chunks')
      .addColumn('uploadId', text, (column) => column.notNull().references('oci_uploads.id').onDelete('cascade'))
      .addColumn('startByte', bigint, (column) => column.notNull())
      .addColumn('size', bigint, (column) => column.notNull())
      .addColumn('contentAddress', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('oci_chunks_key', ['uploadId', 'startByte'])
      .execute();
    await db.schema.createIndex('oci_chunks_by_content').on('oci_chunks').column('contentAddress').execute();
    await db.schema
      .createTable('oci_images')
      .addColumn('versionId', text, (column) =>
        column.notNull().primaryKey().references('versions.id').onDelete('cascade'),
      )
      .addColumn('configDigest', text, (column) => column.notNull())
      .addColumn('configType', text, (column) => column.notNull())
      .addColumn('manifest', text, (column) => column.notNull())
      .addColumn('config', text, (column) => column.notNull())
      .execute();
    await db.schema.alterTable('versions').addColumn('manifestDigest', text).execute();
  },
};
