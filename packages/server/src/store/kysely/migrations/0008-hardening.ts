import { type Kysely, sql } from 'kysely';
import type { ColumnTypes, Migration } from '../migrate.ts';
import { nameGenerations } from './0008-generations.ts';
import { addTeamInvitations } from './0008-team-invitations.ts';

/*
 *   authorization_codes, device_grants ─→ the session that approved them
 *   invitations ─→ a guest, or a role on the team
 *
 *   extension_points ─┬─ withdrawals         bytes that the team withdrew, of plugins that were deleted
 *                     ├─ name_reservations   names of deleted plugins, each under a guest
 *                     └─ retired_labels      semantic versions of deleted plugins
 *
 *   plugins  each with its application and the bytes of its versions, of which quotas take the sums
 *
 *   api_keys ─→ the token that made them, with which they end
 *   tokens      that do more than read end within 90 days
 *
 *   apps, extension_points, plugins     deleted at a time, with rows that go in further transactions
 *   plugins                             how far a recomputation of bindings has come
 */
export const hardening: Migration = {
  name: 'hardening',
  async up(db, types) {
    await addApprovingSessions(db, types);
    await addTeamInvitations(db, types);
    await keepAfterDeletion(db, types);
    await endApiKeys(db, types);
    await shortenTokens(db);
    await nameGenerations(db, types);
    await addPendingWork(db, types);
    await countForQuotas(db, types);
  },
};

/**
 * No foreign key: a session that ends leaves the grant, which then can't be redeemed. A grant approved before this migration
 * names no session and can't be redeemed either; it would have expired within ten minutes.
 */
async function addApprovingSessions(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  for (const table of ['authorization_codes', 'device_grants']) {
    await db.schema.alterTable(table).addColumn('session_id', text).execute();
  }
}

async function keepAfterDeletion(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  const table = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('extension_point_id', text, (column) =>
        column.notNull().references('extension_points.id').onDelete('cascade'),
      )
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull());
  await table('withdrawals')
    .addColumn('content_address', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('reason', text)
    .addColumn('at_ms', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('withdrawals_pk', ['extension_point_id', 'user_id', 'content_address'])
    .execute();
  await table('name_reservations')
    .addColumn('guest_id', text, (column) => column.notNull().references('guests.id').onDelete('cascade'))
    .addColumn('until_ms', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('name_reservations_pk', ['extension_point_id', 'guest_id', 'name'])
    .execute();
  await table('retired_labels')
    .addColumn('semver', text, (column) => column.notNull())
    .addColumn('until_ms', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('retired_labels_pk', ['extension_point_id', 'user_id', 'name', 'semver'])
    .execute();
  for (const [name, column] of [
    ['withdrawals', 'user_id'],
    ['name_reservations', 'user_id'],
    ['name_reservations', 'guest_id'],
    ['name_reservations', 'until_ms'],
    ['retired_labels', 'user_id'],
    ['retired_labels', 'until_ms'],
  ] as const) {
    await db.schema.createIndex(`${name}_by_${column}`).on(name).column(column).execute();
  }
}

const legacyLifetimeMs = 90 * 24 * 60 * 60 * 1000;

/** Keys that had no end get one: 90 days from this migration on. */
async function endApiKeys(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  const add = db.schema.alterTable('api_keys');
  await add.addColumn('token_id', text, (column) => column.references('tokens.id').onDelete('cascade')).execute();
  await add.addColumn('expires_at_ms', bigint, (column) => column.notNull().defaultTo(0)).execute();
  await sql`update api_keys set expires_at_ms = ${Date.now() + legacyLifetimeMs}`.execute(db);
  await db.schema.createIndex('api_keys_by_token').on('api_keys').column('token_id').execute();
}

/** Tokens of programs that do more than read end 90 days from this migration on, unless they end sooner. */
async function shortenTokens(db: Kysely<unknown>): Promise<void> {
  const endMs = Date.now() + legacyLifetimeMs;
  await sql`
    update tokens set expires_at_ms = ${endMs}
    where session_id is null and scopes != 'read' and expires_at_ms > ${endMs}
  `.execute(db);
}

/** What is pending is found at a start without a look at all rows; claims are read in the order of their guests. */
async function addPendingWork(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  for (const table of ['apps', 'extension_points', 'plugins']) {
    await db.schema.alterTable(table).addColumn('deleted_at_ms', bigint).execute();
  }
  await db.schema.alterTable('plugins').addColumn('pending_rebind_json', text).execute();
  for (const [table, column] of [
    ['apps', 'deleted_at_ms'],
    ['extension_points', 'deleted_at_ms'],
    ['plugins', 'pending_rebind_json'],
  ] as const) {
    const index = db.schema.createIndex(`${table}_pending`).on(table).column(column);
    await index.where(column, 'is not', null).execute();
  }
  await db.schema.dropIndex('bindings_by_plugin').execute();
  const columns = ['extension_point_id', 'user_id', 'name', 'guest_id'];
  await db.schema.createIndex('bindings_by_plugin').on('bindings').columns(columns).execute();
}

/** What quotas count, and the times up to which publishes are paid for. Each sum has an index that holds all that it reads. */
async function countForQuotas(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  const plugins = db.schema.alterTable('plugins');
  await plugins.addColumn('app_id', text, (column) => column.notNull().defaultTo('')).execute();
  await plugins.addColumn('bytes', bigint, (column) => column.notNull().defaultTo(0)).execute();
  for (const table of ['plugins', 'users']) {
    const paid = db.schema.alterTable(table);
    await paid.addColumn('publish_paid_at_ms', bigint, (column) => column.notNull().defaultTo(0)).execute();
  }
  await sql`
    update plugins set
      app_id = (select app_id from extension_points where extension_points.id = plugins.extension_point_id),
      bytes = coalesce((
        select sum(size) from versions
        where versions.extension_point_id = plugins.extension_point_id
          and versions.user_id = plugins.user_id
          and versions.name = plugins.name
      ), 0)
  `.execute(db);
  for (const column of ['app_id', 'user_id']) {
    const index = db.schema.createIndex(`plugins_bytes_by_${column}`).on('plugins').columns([column, 'bytes']);
    await index.where(sql.ref('deleted_at_ms'), 'is', null).execute();
  }
  await db.schema
    .createIndex('invitations_pending')
    .on('invitations')
    .columns(['app_id', 'expires_at_ms'])
    .where(sql.ref('status'), '=', sql.lit('pending'))
    .execute();
}
