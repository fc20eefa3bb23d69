import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

/*
 *   users ─┬─ identities
 *          ├─ sessions ── tokens (those of the session's pages)
 *          ├─ known_browsers
 *          ├─ one_time_links
 *          ├─ authorization_codes ─→ tokens
 *          └─ device_grants
 *
 * Of a user who deletes the account the row stays, since invitations name it. All of these go with the user besides, for an
 * operator who deletes the row itself. Times at which things end have an index of their own: what has ended is cleared away.
 */
export const accounts: Migration = {
  name: 'accounts',
  async up(db, { text, bigint }) {
    await db.schema.alterTable('users').addColumn('deleted_at_ms', bigint).execute();

    await db.schema
      .createTable('identities')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('kind', text, (column) => column.notNull())
      .addColumn('subject', text, (column) => column.notNull())
      .addColumn('secret', text, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('updated_at_ms', bigint, (column) => column.notNull())
      .addUniqueConstraint('identities_subject', ['kind', 'subject'])
      .execute();
    await db.schema.createIndex('identities_by_user').on('identities').columns(['user_id', 'id']).execute();

    await db.schema
      .createTable('sessions')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('secret_hash', text, (column) => column.notNull().unique())
      .addColumn('user_agent', text)
      .addColumn('address', text, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('last_used_at_ms', bigint, (column) => column.notNull())
      .addColumn('expires_at_ms', bigint, (column) => column.notNull())
      .addColumn('confirmed_at_ms', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('sessions_by_user').on('sessions').columns(['user_id', 'id']).execute();
    await db.schema.createIndex('sessions_by_end').on('sessions').column('expires_at_ms').execute();

    await db.schema
      .createTable('known_browsers')
      .addColumn('secret_hash', text, (column) => column.primaryKey())
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('known_browsers_by_user').on('known_browsers').column('user_id').execute();

    await db.schema
      .createTable('one_time_links')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('purpose', text, (column) => column.notNull())
      .addColumn('code_hash', text, (column) => column.notNull().unique())
      .addColumn('user_id', text, (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('is_for_first_user', bigint, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('expires_at_ms', bigint, (column) => column.notNull())
      .addColumn('used_at_ms', bigint)
      .execute();
    await db.schema.createIndex('one_time_links_by_user').on('one_time_links').column('user_id').execute();
    await db.schema.createIndex('one_time_links_by_end').on('one_time_links').column('expires_at_ms').execute();

    await db.schema
      .alterTable('tokens')
      .addColumn('session_id', text, (column) => column.references('sessions.id').onDelete('cascade'))
      .execute();
    await db.schema.createIndex('tokens_by_session').on('tokens').column('session_id').execute();
    await db.schema
      .createIndex('session_tokens_by_end')
      .on('tokens')
      .column('expires_at_ms')
      .where(sql.ref('session_id'), 'is not', null)
      .execute();

    await db.schema
      .createTable('authorization_codes')
      .addColumn('code_hash', text, (column) => column.primaryKey())
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('client_id', text, (column) => column.notNull())
      .addColumn('redirect_uri', text, (column) => column.notNull())
      .addColumn('code_challenge', text, (column) => column.notNull())
      .addColumn('scopes', text, (column) => column.notNull())
      .addColumn('device_name', text)
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('expires_at_ms', bigint, (column) => column.notNull())
      .addColumn('token_id', text, (column) => column.references('tokens.id').onDelete('set null'))
      .addColumn('used_at_ms', bigint)
      .execute();
    await db.schema.createIndex('authorization_codes_by_user').on('authorization_codes').column('user_id').execute();
    await db.schema.createIndex('authorization_codes_by_token').on('authorization_codes').column('token_id').execute();
    await db.schema
      .createIndex('authorization_codes_by_end')
      .on('authorization_codes')
      .column('expires_at_ms')
      .execute();

    await db.schema
      .createTable('device_grants')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('device_code_hash', text, (column) => column.notNull().unique())
      .addColumn('user_code_hash', text, (column) => column.notNull().unique())
      .addColumn('client_id', text, (column) => column.notNull())
      .addColumn('scopes', text, (column) => column.notNull())
      .addColumn('device_name', text)
      .addColumn('address', text, (column) => column.notNull())
      .addColumn('status', text, (column) => column.notNull())
      .addColumn('user_id', text, (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('expires_at_ms', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('device_grants_by_user').on('device_grants').column('user_id').execute();
    await db.schema.createIndex('device_grants_by_end').on('device_grants').column('expires_at_ms').execute();

    await db.schema
      .alterTable('invitations')
      .addColumn('signed_up_user_id', text, (column) => column.references('users.id').onDelete('set null'))
      .execute();
    await db.schema.createIndex('invitations_by_sign_up').on('invitations').column('signed_up_user_id').execute();
  },
};
