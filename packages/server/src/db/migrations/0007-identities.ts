import type { Migration } from '../migrate.ts';

/** Accounts at sign-in providers (OpenID Connect), sign-ins in progress, and the roles that groups granted. */
export const identities: Migration = {
  name: 'identities',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('identities')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('providerId', text, (column) => column.notNull())
      .addColumn('issuer', text, (column) => column.notNull())
      .addColumn('subject', text, (column) => column.notNull())
      .addColumn('email', text)
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('lastUsedAtMs', bigint, (column) => column.notNull())
      .addUniqueConstraint('identities_subject', ['issuer', 'subject'])
      .execute();
    await db.schema.createIndex('identities_by_user').on('identities').columns(['userId', 'id']).execute();
    await db.schema
      .createTable('session_identities')
      .addColumn('sessionId', text, (column) =>
        column.notNull().primaryKey().references('sessions.id').onDelete('cascade'),
      )
      .addColumn('identityId', text, (column) => column.notNull().references('identities.id').onDelete('cascade'))
      .addColumn('sid', text)
      .addColumn('idToken', text)
      .execute();
    const index = (name: string) => db.schema.createIndex(name).on('session_identities');
    await index('session_identities_by_identity').column('identityId').execute();
    await index('session_identities_by_sid').column('sid').execute();
    await db.schema
      .createTable('provider_sign_ins')
      .addColumn('stateHash', text, (column) => column.notNull().primaryKey())
      .addColumn('browserHash', text, (column) => column.notNull())
      .addColumn('providerId', text, (column) => column.notNull())
      .addColumn('purpose', text, (column) => column.notNull())
      .addColumn('sessionId', text)
      .addColumn('invitationHash', text)
      .addColumn('linkHash', text)
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('expiresAtMs', bigint, (column) => column.notNull())
      .addColumn('usedAtMs', bigint)
      .execute();
    await db.schema.createIndex('provider_sign_ins_by_end').on('provider_sign_ins').column('expiresAtMs').execute();
    await db.schema
      .createTable('logout_tokens')
      .addColumn('tokenHash', text, (column) => column.notNull().primaryKey())
      .addColumn('expiresAtMs', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('logout_tokens_by_end').on('logout_tokens').column('expiresAtMs').execute();
    await db.schema
      .createTable('granted_memberships')
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('providerId', text, (column) => column.notNull())
      .addColumn('appId', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('role', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('granted_memberships_key', ['userId', 'providerId', 'appId'])
      .execute();
    await db.schema.createIndex('granted_memberships_by_app').on('granted_memberships').column('appId').execute();
    await db.schema
      .createTable('granted_operators')
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('providerId', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('granted_operators_key', ['userId', 'providerId'])
      .execute();
  },
};
