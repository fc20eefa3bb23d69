import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/** Passkeys, recovery codes, and the sign-ins and challenges that are in progress. */
export const passkeys: Migration = {
  name: 'passkeys',
  async up(db, { text, bigint, boolean, json }) {
    await db.schema
      .createTable('passkeys')
      .addColumn('id', text, (column) => column.notNull().primaryKey())
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('credentialId', text, (column) => column.notNull().unique())
      .addColumn('publicKey', text, (column) => column.notNull())
      .addColumn('counter', bigint, (column) => column.notNull())
      .addColumn('transports', json, (column) => column.notNull())
      .addColumn('createdAtMs', bigint, (column) => column.notNull())
      .addColumn('lastUsedAtMs', bigint)
      .execute();
    await db.schema.createIndex('passkeys_by_user').on('passkeys').columns(['userId', 'id']).execute();
    await db.schema
      .createTable('recovery_codes')
      .addColumn('codeHash', text, (column) => column.notNull().primaryKey())
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .execute();
    await db.schema.createIndex('recovery_codes_by_user').on('recovery_codes').column('userId').execute();
    await db.schema
      .createTable('pending_sign_ins')
      .addColumn('secretHash', text, (column) => column.notNull().primaryKey())
      .addColumn('userId', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('attempts', bigint, (column) => column.notNull())
      .addColumn('expiresAtMs', bigint, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('passkey_challenges')
      .addColumn('challenge', text, (column) => column.notNull().primaryKey())
      .addColumn('purpose', text, (column) => column.notNull())
      .addColumn('holder', text, (column) => column.notNull())
      .addColumn('userId', text, (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('expiresAtMs', bigint, (column) => column.notNull())
      .execute();
    for (const table of ['pending_sign_ins', 'passkey_challenges']) {
      await db.schema.createIndex(`${table}_by_user`).on(table).column('userId').execute();
      await db.schema.createIndex(`${table}_by_end`).on(table).column('expiresAtMs').execute();
    }
    await db.schema
      .alterTable('sessions')
      .addColumn('passkeyId', text, (column) => column.references('passkeys.id').onDelete('set null'))
      .execute();
    await db.schema.createIndex('sessions_by_passkey').on('sessions').column('passkeyId').execute();
    await db.schema
      .alterTable('apps')
      .addColumn('requiresPasskey', boolean, (column) => column.notNull().defaultTo(sql.lit(false)))
      .execute();
  },
};
