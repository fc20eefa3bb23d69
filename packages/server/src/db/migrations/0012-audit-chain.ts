import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** The hash chain over audit events. Rows of before are sealed by the server, in the background. */
export const auditChain: Migration = {
  name: 'audit chain',
  async up(db, { text, bigint, boolean }) {
    await db.schema.alterTable('audit_events').addColumn('isSealed', boolean).execute();
    const unsealed = db.schema.createIndex('audit_events_unsealed').on('audit_events').column('id');
    await unsealed.where(sql.ref('isSealed'), 'is', null).execute();
    await db.schema
      .createTable('audit_links')
      .addColumn('seq', bigint, (column) => column.notNull().primaryKey())
      .addColumn('eventId', text, (column) => column.notNull().unique())
      .addColumn('sealedAtMs', bigint, (column) => column.notNull())
      .addColumn('subjectId', text)
      .addColumn('body', text, (column) => column.notNull())
      .addColumn('bodySalt', text)
      .addColumn('marks', text, (column) => column.notNull())
      .addColumn('person', text)
      .addColumn('personSalt', text)
      .addColumn('target', text)
      .addColumn('targetSalt', text)
      .addColumn('guests', text)
      .addColumn('guestsSalt', text)
      .addColumn('hash', text, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('audit_positions')
      .addColumn('kind', text, (column) => column.notNull().primaryKey())
      .addColumn('seq', bigint, (column) => column.notNull())
      .addColumn('hash', text, (column) => column.notNull())
      .execute();
  },
};
