import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import type { ColumnTypes, Migration } from '../migrate.ts';

/*
 *   users ─┬─ passwords, sessions, known_browsers, one_time_links, authorization_codes, device_grants, tokens, api_keys
 *          ├─ operators
 *          ├─ members ────── apps ─┬─ extension_points ── plugins ── versions ── version_guests
 *          └─ guest_users ── guests┘                          └───── bindings ────────┘
 *
 * Columns have the names of the records' fields. What belongs to an application goes with it. A user who has published or invited
 * can't be deleted, since those rows name the user. Every foreign key has an index that begins with it, or deletions upstream would
 * scan the table. What expires has an index on when it does.
 */
export const baseline: Migration = {
  name: 'baseline',
  async up(db, types) {
    await createAccounts(db, types);
    await createApps(db, types);
    await createPlugins(db, types);
    await createBindings(db, types);
    await createCredentials(db, types);
    await createBlobs(db, types);
    await createAudit(db, types);
    await createChangeEvents(db, types);
    await createStatus(db, types);
  },
};

type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

const required: Column = (column) => column.notNull();
const unique: Column = (column) => column.notNull().unique();
const primaryKey: Column = (column) => column.notNull().primaryKey();
const partOf =
  (reference: string): Column =>
  (column) =>
    column.notNull().references(reference).onDelete('cascade');
const maybePartOf =
  (reference: string): Column =>
  (column) =>
    column.references(reference).onDelete('cascade');

/** @param indexes the columns of each, by its name */
async function createIndexes(
  db: Kysely<unknown>,
  table: string,
  indexes: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  for (const [name, columns] of Object.entries(indexes)) {
    await db.schema
      .createIndex(name)
      .on(table)
      .columns([...columns])
      .execute();
  }
}

async function createAccounts(db: Kysely<unknown>, { text, bigint, boolean }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('id', text, primaryKey)
    .addColumn('name', text, required)
    .addColumn('email', text, (column) => column.unique())
    .addColumn('createdAtMs', bigint, required)
    .addColumn('lastSeenAtMs', bigint, required)
    .addColumn('suspendedAtMs', bigint)
    .addColumn('deletedAtMs', bigint)
    .addColumn('publishChargedUntilMs', bigint, required)
    .addColumn('mailsChargedUntilMs', bigint, required)
    .execute();
  await db.schema
    .createTable('passwords')
    .addColumn('userId', text, (column) => column.notNull().primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('hash', text, required)
    .addColumn('updatedAtMs', bigint, required)
    .execute();
  await db.schema
    .createTable('sessions')
    .addColumn('id', text, primaryKey)
    .addColumn('userId', text, partOf('users.id'))
    .addColumn('secretHash', text, unique)
    .addColumn('userAgent', text)
    .addColumn('address', text, required)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('lastUsedAtMs', bigint, required)
    .addColumn('expiresAtMs', bigint, required)
    .addColumn('confirmedAtMs', bigint, required)
    .execute();
  await createIndexes(db, 'sessions', { sessions_by_user: ['userId', 'id'], sessions_by_end: ['expiresAtMs'] });
  await db.schema
    .createTable('known_browsers')
    .addColumn('secretHash', text, primaryKey)
    .addColumn('userId', text, partOf('users.id'))
    .addColumn('createdAtMs', bigint, required)
    .execute();
  await createIndexes(db, 'known_browsers', { known_browsers_by_user: ['userId'] });
  await db.schema
    .createTable('one_time_links')
    .addColumn('id', text, primaryKey)
    .addColumn('purpose', text, required)
    .addColumn('codeHash', text, unique)
    .addColumn('userId', text, maybePartOf('users.id'))
    .addColumn('isForFirstUser', boolean, required)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('expiresAtMs', bigint, required)
    .addColumn('usedAtMs', bigint)
    .execute();
  await createIndexes(db, 'one_time_links', {
    one_time_links_by_user: ['userId'],
    one_time_links_by_end: ['expiresAtMs'],
  });
}

async function createApps(db: Kysely<unknown>, { text, bigint, boolean, json }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('apps')
    .addColumn('id', text, primaryKey)
    .addColumn('name', text, required)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('updatedAtMs', bigint, required)
    .addColumn('deletedAtMs', bigint)
    .execute();
  await createDeletedIndex(db, 'apps');
  await db.schema
    .createTable('members')
    .addColumn('appId', text, partOf('apps.id'))
    .addColumn('userId', text, partOf('users.id'))
    .addColumn('role', text, required)
    .addColumn('createdAtMs', bigint, required)
    .addPrimaryKeyConstraint('members_pk', ['appId', 'userId'])
    .execute();
  await createIndexes(db, 'members', { members_by_user: ['userId', 'appId'] });
  await db.schema
    .createTable('extension_points')
    .addColumn('id', text, primaryKey)
    .addColumn('appId', text, partOf('apps.id'))
    .addColumn('name', text, required)
    .addColumn('schemaJson', text, required)
    .addColumn('requiresApproval', boolean, required)
    .addColumn('limits', json, required)
    .addColumn('simulationsRevision', bigint, required)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('updatedAtMs', bigint, required)
    .addColumn('deletedAtMs', bigint)
    .execute();
  await createIndexes(db, 'extension_points', { extension_points_by_app: ['appId', 'id'] });
  await createDeletedIndex(db, 'extension_points');
  await db.schema
    .createTable('guests')
    .addColumn('id', text, primaryKey)
    .addColumn('appId', text, partOf('apps.id'))
    .addColumn('guestKey', text, required)
    .addColumn('sortKey', text, required)
    .addColumn('label', text)
    .addColumn('note', text)
    .addColumn('createdAtMs', bigint, required)
    .addUniqueConstraint('guests_key', ['appId', 'guestKey'])
    .execute();
  await createIndexes(db, 'guests', { guests_by_app: ['appId', 'id'], guests_by_key: ['appId', 'sortKey', 'id'] });
  await db.schema
    .createTable('guest_users')
    .addColumn('guestId', text, partOf('guests.id'))
    .addColumn('userId', text, partOf('users.id'))
    .addColumn('acceptedAtMs', bigint, required)
    .addPrimaryKeyConstraint('guest_users_pk', ['guestId', 'userId'])
    .execute();
  await createIndexes(db, 'guest_users', { guest_users_by_user: ['userId', 'guestId'] });
  await createInvitations(db, text, bigint);
}

/** What is marked as deleted is found at a start without reading all rows. */
async function createDeletedIndex(db: Kysely<unknown>, table: 'apps' | 'extension_points'): Promise<void> {
  const index = db.schema.createIndex(`${table}_pending`).on(table).column('deletedAtMs');
  await index.where(sql.ref('deletedAtMs'), 'is not', null).execute();
}

/** An invitation names a guest or a role, never both. */
async function createInvitations(
  db: Kysely<unknown>,
  text: ColumnTypes['text'],
  bigint: ColumnTypes['bigint'],
): Promise<void> {
  await db.schema
    .createTable('invitations')
    .addColumn('id', text, primaryKey)
    .addColumn('appId', text, partOf('apps.id'))
    .addColumn('guestId', text, maybePartOf('guests.id'))
    .addColumn('role', text)
    .addColumn('codeHash', text, unique)
    .addColumn('status', text, required)
    .addColumn('email', text)
    .addColumn('name', text)
    .addColumn('createdBy', text, (column) => column.notNull().references('users.id'))
    .addColumn('createdAtMs', bigint, required)
    .addColumn('expiresAtMs', bigint, required)
    .addColumn('settledAtMs', bigint)
    .addColumn('signedUpUserId', text, (column) => column.references('users.id').onDelete('set null'))
    .addCheckConstraint('invitations_target', sql`("guestId" is null) != (role is null)`)
    .execute();
  await createIndexes(db, 'invitations', {
    invitations_by_app: ['appId', 'id'],
    invitations_by_guest: ['guestId', 'id'],
    invitations_by_creator: ['createdBy', 'appId'],
    invitations_by_sign_up: ['signedUpUserId'],
  });
  const ofTeam = db.schema.createIndex('invitations_to_team').on('invitations').columns(['appId', 'id']);
  await ofTeam.where(sql.ref('role'), 'is not', null).execute();
  const pending = db.schema.createIndex('invitations_pending').on('invitations').columns(['appId', 'expiresAtMs']);
  await pending.where(sql.ref('status'), '=', sql.lit('pending')).execute();
}

/** Each sum that quotas take has an index that holds all that it reads. */
async function createPlugins(db: Kysely<unknown>, { text, bigint, json }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('plugins')
    .addColumn('extensionPointId', text, partOf('extension_points.id'))
    .addColumn('userId', text, (column) => column.notNull().references('users.id'))
    .addColumn('name', text, required)
    .addColumn('sortKey', text, required)
    .addColumn('appId', text, required)
    .addColumn('lastNumber', bigint, required)
    .addColumn('bytes', bigint, required)
    .addColumn('publishChargedUntilMs', bigint, required)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('block', json)
    .addColumn('deletedAtMs', bigint)
    .addColumn('pendingRebind', json)
    .addColumn('description', text)
    .addColumn('homepage', text)
    .addColumn('readme', text)
    .addPrimaryKeyConstraint('plugins_pk', pluginKey)
    .execute();
  await createIndexes(db, 'plugins', {
    plugins_by_user: ['userId'],
    plugins_by_name: ['appId', 'sortKey', ...pluginKey],
  });
  const pending = db.schema.createIndex('plugins_pending').on('plugins').columns(pluginKey);
  await pending.where(sql.ref('pendingRebind'), 'is not', null).execute();
  for (const [name, column] of Object.entries({ plugins_bytes_by_app: 'appId', plugins_bytes_by_user: 'userId' })) {
    const index = db.schema.createIndex(name).on('plugins').columns([column, 'bytes']);
    await index.where(sql.ref('deletedAtMs'), 'is', null).execute();
  }
  await db.schema
    .createTable('versions')
    .addColumn('id', text, primaryKey)
    .addColumn('extensionPointId', text, required)
    .addColumn('userId', text, required)
    .addColumn('name', text, required)
    .addColumn('number', bigint, required)
    .addColumn('appId', text, required)
    .addColumn('contentAddress', text, required)
    .addColumn('size', bigint, required)
    .addColumn('semver', text)
    .addColumn('note', text)
    .addColumn('interfaceJson', text)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('state', text, required)
    .addColumn('stateReason', text)
    .addColumn('stateAtMs', bigint, required)
    .addColumn('stateRole', text)
    .addColumn('verdict', text)
    .addUniqueConstraint('versions_number', [...pluginKey, 'number'])
    .addForeignKeyConstraint('versions_plugin', pluginKey, 'plugins', pluginKey, (key) => key.onDelete('cascade'))
    .execute();
  await createIndexes(db, 'versions', { versions_by_content: ['contentAddress', 'appId', 'userId'] });
  const awaiting = db.schema.createIndex('versions_awaiting_approval').on('versions').columns(['appId', 'id']);
  await awaiting.where(sql.ref('state'), '=', sql.lit('awaiting_approval')).execute();
  await db.schema
    .createTable('version_guests')
    .addColumn('versionId', text, partOf('versions.id'))
    .addColumn('guestId', text, partOf('guests.id'))
    .addPrimaryKeyConstraint('version_guests_pk', ['versionId', 'guestId'])
    .execute();
  await createIndexes(db, 'version_guests', { version_guests_by_guest: ['guestId', 'versionId'] });
}

const pluginKey: ('extensionPointId' | 'userId' | 'name')[] = ['extensionPointId', 'userId', 'name'];

/** Bindings, and what deleted plugins leave: withdrawn bytes, names each reserved under a guest, and semantic versions. */
async function createBindings(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('bindings')
    .addColumn('extensionPointId', text, required)
    .addColumn('guestId', text, partOf('guests.id'))
    .addColumn('name', text, required)
    .addColumn('userId', text, required)
    .addColumn('versionId', text, maybePartOf('versions.id'))
    .addColumn('pinnedVersionId', text, maybePartOf('versions.id'))
    .addColumn('selectedVersionId', text, maybePartOf('versions.id'))
    .addColumn('selectedAtNumber', bigint)
    .addColumn('updatedAtMs', bigint, required)
    .addPrimaryKeyConstraint('bindings_pk', ['extensionPointId', 'guestId', 'name'])
    .addForeignKeyConstraint('bindings_plugin', pluginKey, 'plugins', pluginKey, (key) => key.onDelete('cascade'))
    .execute();
  await createIndexes(db, 'bindings', {
    bindings_by_plugin: [...pluginKey, 'guestId'],
    bindings_by_guest: ['guestId', 'userId'],
    bindings_by_version: ['versionId'],
    bindings_by_pin: ['pinnedVersionId'],
    bindings_by_selection: ['selectedVersionId'],
  });
  const ofDeletedPlugins = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('extensionPointId', text, partOf('extension_points.id'))
      .addColumn('userId', text, partOf('users.id'))
      .addColumn('name', text, required);
  await ofDeletedPlugins('withdrawals')
    .addColumn('contentAddress', text, required)
    .addColumn('state', text, required)
    .addColumn('reason', text)
    .addColumn('atMs', bigint, required)
    .addPrimaryKeyConstraint('withdrawals_pk', ['extensionPointId', 'userId', 'contentAddress'])
    .execute();
  await createIndexes(db, 'withdrawals', { withdrawals_by_user: ['userId'] });
  await ofDeletedPlugins('name_reservations')
    .addColumn('guestId', text, partOf('guests.id'))
    .addColumn('untilMs', bigint, required)
    .addPrimaryKeyConstraint('name_reservations_pk', ['extensionPointId', 'guestId', 'name'])
    .execute();
  await createIndexes(db, 'name_reservations', {
    name_reservations_by_user: ['userId'],
    name_reservations_by_guest: ['guestId'],
    name_reservations_by_end: ['untilMs'],
  });
  await ofDeletedPlugins('reserved_semvers')
    .addColumn('semver', text, required)
    .addColumn('untilMs', bigint, required)
    .addPrimaryKeyConstraint('reserved_semvers_pk', [...pluginKey, 'semver'])
    .execute();
  await createIndexes(db, 'reserved_semvers', {
    reserved_semvers_by_user: ['userId'],
    reserved_semvers_by_end: ['untilMs'],
  });
}

/**
 * Tokens, keys, and logins that are under way. A login names the session that approved it without a foreign key: a session that ends
 * leaves the login, which can't be redeemed then.
 */
async function createCredentials(db: Kysely<unknown>, { text, bigint, json }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('tokens')
    .addColumn('id', text, primaryKey)
    .addColumn('userId', text, partOf('users.id'))
    .addColumn('name', text, required)
    .addColumn('secretHash', text, unique)
    .addColumn('scopes', json, required)
    .addColumn('appId', text, maybePartOf('apps.id'))
    .addColumn('sessionId', text, maybePartOf('sessions.id'))
    .addColumn('createdAtMs', bigint, required)
    .addColumn('expiresAtMs', bigint, required)
    .addColumn('lastUsedAtMs', bigint)
    .execute();
  await createIndexes(db, 'tokens', {
    tokens_by_user: ['userId', 'id'],
    tokens_by_app: ['appId'],
    tokens_by_session: ['sessionId'],
  });
  const ofSessions = db.schema.createIndex('session_tokens_by_end').on('tokens').column('expiresAtMs');
  await ofSessions.where(sql.ref('sessionId'), 'is not', null).execute();
  await db.schema
    .createTable('api_keys')
    .addColumn('id', text, primaryKey)
    .addColumn('userId', text, partOf('users.id'))
    .addColumn('name', text, required)
    .addColumn('secretHash', text, unique)
    .addColumn('tokenId', text, maybePartOf('tokens.id'))
    .addColumn('createdAtMs', bigint, required)
    .addColumn('expiresAtMs', bigint, required)
    .addColumn('lastUsedAtMs', bigint)
    .execute();
  await createIndexes(db, 'api_keys', { api_keys_by_user: ['userId', 'id'], api_keys_by_token: ['tokenId'] });
  await db.schema
    .createTable('authorization_codes')
    .addColumn('codeHash', text, primaryKey)
    .addColumn('userId', text, partOf('users.id'))
    .addColumn('clientId', text, required)
    .addColumn('redirectUri', text, required)
    .addColumn('codeChallenge', text, required)
    .addColumn('scopes', json, required)
    .addColumn('deviceName', text)
    .addColumn('sessionId', text)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('expiresAtMs', bigint, required)
    .addColumn('tokenId', text, (column) => column.references('tokens.id').onDelete('set null'))
    .addColumn('usedAtMs', bigint)
    .execute();
  await createIndexes(db, 'authorization_codes', {
    authorization_codes_by_user: ['userId'],
    authorization_codes_by_token: ['tokenId'],
    authorization_codes_by_end: ['expiresAtMs'],
  });
  await db.schema
    .createTable('device_grants')
    .addColumn('id', text, primaryKey)
    .addColumn('deviceCodeHash', text, unique)
    .addColumn('userCodeHash', text, unique)
    .addColumn('clientId', text, required)
    .addColumn('scopes', json, required)
    .addColumn('deviceName', text)
    .addColumn('address', text, required)
    .addColumn('status', text, required)
    .addColumn('userId', text, maybePartOf('users.id'))
    .addColumn('sessionId', text)
    .addColumn('createdAtMs', bigint, required)
    .addColumn('expiresAtMs', bigint, required)
    .execute();
  await createIndexes(db, 'device_grants', {
    device_grants_by_user: ['userId'],
    device_grants_by_end: ['expiresAtMs'],
  });
}

/** No foreign key to versions: rows come before them and go after them. */
async function createBlobs(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('blobs')
    .addColumn('address', text, primaryKey)
    .addColumn('size', bigint, required)
    .addColumn('state', text, required)
    .addColumn('generation', text, required)
    .addColumn('leaseUntilMs', bigint, required)
    .addColumn('unusedSinceMs', bigint)
    .execute();
  const unused = db.schema.createIndex('blobs_unused').on('blobs').column('unusedSinceMs');
  await unused.where(sql.ref('unusedSinceMs'), 'is not', null).execute();
  await db.schema
    .createTable('blob_deletions')
    .addColumn('address', text, required)
    .addColumn('generation', text, required)
    .addColumn('size', bigint, required)
    .addPrimaryKeyConstraint('blob_deletions_pk', ['address', 'generation'])
    .execute();
  await db.schema
    .createTable('leases')
    .addColumn('kind', text, required)
    .addColumn('holder', text, required)
    .addColumn('untilMs', bigint, required)
    .addPrimaryKeyConstraint('leases_pk', ['kind', 'holder'])
    .execute();
}

/**
 * No foreign keys: rows outlive what they are about. Each way of reading a trail has an index in whose order it is answered, newest
 * first, so that a page costs as much in a trail of a million rows as in one of ten.
 */
async function createAudit(db: Kysely<unknown>, { text, bigint, json }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('audit_events')
    .addColumn('id', text, primaryKey)
    .addColumn('atMs', bigint, required)
    .addColumn('action', text, required)
    .addColumn('appId', text)
    .addColumn('accountId', text)
    .addColumn('by', text, required)
    .addColumn('userId', text)
    .addColumn('userName', text)
    .addColumn('viaId', text)
    .addColumn('viaName', text)
    .addColumn('address', text)
    .addColumn('targetId', text, required)
    .addColumn('targetName', text)
    .addColumn('details', json, required)
    .addColumn('guestKeys', json)
    .execute();
  const orders: Readonly<Record<string, readonly [columns: readonly string[], where: string | undefined]>> = {
    audit_events_by_time: [[], undefined],
    audit_events_of_app: [['appId'], 'appId'],
    audit_events_of_app_by_action: [['appId', 'action'], 'appId'],
    audit_events_of_app_by_user: [['appId', 'userId'], 'appId'],
    audit_events_by_target: [['targetId', 'appId'], undefined],
    audit_events_of_account: [['accountId'], 'accountId'],
  };
  for (const [name, [columns, where]] of Object.entries(orders)) {
    const index = db.schema
      .createIndex(name)
      .on('audit_events')
      .columns([...columns, 'atMs', 'id']);
    await (where === undefined ? index : index.where(sql.ref(where), 'is not', null)).execute();
  }
}

/** No foreign keys to extension points and guests: a change event also says that one of them is gone. */
async function createChangeEvents(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('change_heads')
    .addColumn('appId', text, (column) => column.notNull().primaryKey().references('apps.id').onDelete('cascade'))
    .addColumn('serial', bigint, required)
    .addColumn('mark', text, required)
    .execute();
  await db.schema
    .createTable('change_events')
    .addColumn('appId', text, partOf('apps.id'))
    .addColumn('serial', bigint, required)
    .addColumn('mark', text, required)
    .addColumn('atMs', bigint, required)
    .addColumn('extensionPointId', text, required)
    .addColumn('guestKey', text)
    .addPrimaryKeyConstraint('change_events_pk', ['appId', 'serial'])
    .execute();
  await createIndexes(db, 'change_events', { change_events_by_time: ['atMs', 'appId', 'serial'] });
}

async function createStatus(db: Kysely<unknown>, { text, bigint, json }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('operators')
    .addColumn('userId', text, (column) => column.notNull().primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('createdAtMs', bigint, required)
    .execute();
  await db.schema
    .createTable('nodes')
    .addColumn('id', text, primaryKey)
    .addColumn('node', text, required)
    .addColumn('pid', bigint, required)
    .addColumn('version', text, required)
    .addColumn('startedAtMs', bigint, required)
    .addColumn('lastSeenAtMs', bigint, required)
    .execute();
  await createIndexes(db, 'nodes', { nodes_by_last_seen: ['lastSeenAtMs'] });
  await db.schema
    .createTable('maintenance_runs')
    .addColumn('kind', text, primaryKey)
    .addColumn('endedAtMs', bigint, required)
    .addColumn('outcome', json, required)
    .execute();
}
