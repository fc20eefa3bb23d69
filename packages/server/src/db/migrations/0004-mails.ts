import type { Migration } from '../migrate.ts';

/** The queue of mails, the codes that were mailed, and which notices users get. */
export const mails: Migration = {
  name: 'mails',
  async up(db, { text, bigint, json }) {
    await db.schema
      .createTable('mails')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('recipient', text, (column) => column.notNull())
      .addColumn('userId', text, (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('invitationId', text, (column) => column.references('invitations.id').onDelete('cascade'))
      .addColumn('appId', text, (column) => column.references('apps.id').onDelete('cascade'))
      .addColumn('facts', json, (column) => column.notNull())
      .addColumn('state', text, (column) => column.notNull())
      .addColumn('attempts', bigint, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('dueAtMs', bigint, (column) => column.notNull())
      .addColumn('error', text)
      .execute();
    const index = (name: string) => db.schema.createIndex(name).on('mails');
    await index('mails_by_user').columns(['userId', 'kind', 'createdAtMs']).execute();
    await index('mails_by_invitation').columns(['invitationId', 'id']).execute();
    await index('mails_by_app').column('appId').execute();
    await index('mails_by_state').columns(['state', 'dueAtMs']).execute();
    await db.schema
      .createTable('mailed_codes')
      .addColumn('codeHash', text, (column) => column.notNull().primaryKey())
      .addColumn('purpose', text, (column) => column.notNull())
      .addColumn('recipient', text, (column) => column.notNull())
      .addColumn('userId', text, (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('invitationId', text, (column) => column.references('invitations.id').onDelete('cascade'))
      .addColumn('notice', text)
      .addColumn('expiresAtMs', bigint, (column) => column.notNull())
      .execute();
    const indexOfCodes = (name: string) => db.schema.createIndex(name).on('mailed_codes');
    await indexOfCodes('mailed_codes_by_user').column('userId').execute();
    await indexOfCodes('mailed_codes_by_invitation').column('invitationId').execute();
    await indexOfCodes('mailed_codes_by_end').column('expiresAtMs').execute();
    await db.schema
      .createTable('mail_preferences')
      .addColumn('userId', text, (column) => column.notNull().primaryKey().references('users.id').onDelete('cascade'))
      .addColumn('verifiedEmail', text)
      .addColumn('muted', json, (column) => column.notNull())
      .execute();
  },
};
