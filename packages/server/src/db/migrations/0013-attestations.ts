import type { Migration } from '../migrate.ts';

/** The keys of the server, the attestations of versions, and what extension points require of provenance. */
export const attestations: Migration = {
  name: 'attestations',
  async up(db, { text, bigint, json }) {
    await db.schema
      .createTable('signing_keys')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('origin', text, (column) => column.notNull())
      .addColumn('publicKeyPem', text, (column) => column.notNull())
      .addColumn('privateKeyPem', text)
      .addColumn('validFromMs', bigint, (column) => column.notNull())
      .addColumn('validUntilMs', bigint)
      .addColumn('revokedAtMs', bigint)
      .execute();
    await db.schema
      .createTable('attestations')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('versionId', text, (column) => column.notNull().references('versions.id').onDelete('cascade'))
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('predicateType', text, (column) => column.notNull())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('detail', text)
      .addColumn('signer', json)
      .addColumn('size', bigint, (column) => column.notNull())
      .addColumn('digest', text, (column) => column.notNull())
      .addColumn('userId', text)
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      // Last, because it is large: SQLite reads a row up to the last requested column.
      .addColumn('bundle', text, (column) => column.notNull())
      .addUniqueConstraint('attestations_digest', ['versionId', 'digest'])
      .execute();
    await db.schema.createIndex('attestations_by_version').on('attestations').columns(['versionId', 'id']).execute();
    const versions = db.schema.alterTable('versions');
    await versions.addColumn('provenance', text, (column) => column.notNull().defaultTo('absent')).execute();
    await versions.addColumn('attestationBytes', bigint, (column) => column.notNull().defaultTo(0)).execute();
    await db.schema
      .alterTable('extension_points')
      .addColumn('provenance', json, (column) => column.notNull().defaultTo('{"mode":"none","sources":[]}'))
      .execute();
  },
};
