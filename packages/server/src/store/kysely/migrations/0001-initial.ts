import type { Migration } from '../migrate.ts';

/*
 *   users ─┬─ members ── apps ── extension_points ── plugins ── versions
 *          │              │                                        │
 *          └─ guest_users └─ guests ───────────────────────── bindings
 *                              └─ invitations
 *
 * What belongs to an application goes with it. A user owns nothing that way: deleting one who has published or invited is
 * refused here, since what is to become of their plugins is not for the schema to decide. Every foreign key has an index
 * that begins with it, or deletions upstream would scan the table.
 */
export const initial: Migration = {
  name: 'initial',
  async up(db, { text, bigint }) {
    await db.schema
      .createTable('users')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('email', text)
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('apps')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('updated_at_ms', bigint, (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('members')
      .addColumn('app_id', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('role', text, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addPrimaryKeyConstraint('members_pk', ['app_id', 'user_id'])
      .execute();
    await db.schema.createIndex('members_by_user').on('members').columns(['user_id', 'app_id']).execute();

    await db.schema
      .createTable('extension_points')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('app_id', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('schema_json', text, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('updated_at_ms', bigint, (column) => column.notNull())
      .execute();
    await db.schema.createIndex('extension_points_by_app').on('extension_points').columns(['app_id', 'id']).execute();

    await db.schema
      .createTable('guests')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('app_id', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('guest_key', text, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addUniqueConstraint('guests_key', ['app_id', 'guest_key'])
      .execute();
    await db.schema.createIndex('guests_by_app').on('guests').columns(['app_id', 'id']).execute();

    await db.schema
      .createTable('guest_users')
      .addColumn('guest_id', text, (column) => column.notNull().references('guests.id').onDelete('cascade'))
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('accepted_at_ms', bigint, (column) => column.notNull())
      .addPrimaryKeyConstraint('guest_users_pk', ['guest_id', 'user_id'])
      .execute();
    await db.schema.createIndex('guest_users_by_user').on('guest_users').columns(['user_id', 'guest_id']).execute();

    await db.schema
      .createTable('invitations')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('app_id', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
      .addColumn('guest_id', text, (column) => column.notNull().references('guests.id').onDelete('cascade'))
      .addColumn('code_hash', text, (column) => column.notNull().unique())
      .addColumn('status', text, (column) => column.notNull())
      .addColumn('email', text)
      .addColumn('name', text)
      .addColumn('created_by', text, (column) => column.notNull().references('users.id'))
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('expires_at_ms', bigint, (column) => column.notNull())
      .addColumn('settled_at_ms', bigint)
      .execute();
    await db.schema.createIndex('invitations_by_app').on('invitations').columns(['app_id', 'id']).execute();
    await db.schema.createIndex('invitations_by_guest').on('invitations').column('guest_id').execute();
    await db.schema.createIndex('invitations_by_creator').on('invitations').column('created_by').execute();

    await db.schema
      .createTable('plugins')
      .addColumn('extension_point_id', text, (column) =>
        column.notNull().references('extension_points.id').onDelete('cascade'),
      )
      .addColumn('user_id', text, (column) => column.notNull().references('users.id'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('last_number', bigint, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addPrimaryKeyConstraint('plugins_pk', ['extension_point_id', 'user_id', 'name'])
      .execute();
    await db.schema.createIndex('plugins_by_user').on('plugins').column('user_id').execute();

    await db.schema
      .createTable('versions')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('extension_point_id', text, (column) => column.notNull())
      .addColumn('user_id', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('number', bigint, (column) => column.notNull())
      .addColumn('app_id', text, (column) => column.notNull())
      .addColumn('content_address', text, (column) => column.notNull())
      .addColumn('size', bigint, (column) => column.notNull())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addUniqueConstraint('versions_number', ['extension_point_id', 'user_id', 'name', 'number'])
      .addForeignKeyConstraint(
        'versions_plugin',
        ['extension_point_id', 'user_id', 'name'],
        'plugins',
        ['extension_point_id', 'user_id', 'name'],
        (constraint) => constraint.onDelete('cascade'),
      )
      .execute();
    await db.schema
      .createIndex('versions_by_content')
      .on('versions')
      .columns(['content_address', 'app_id', 'user_id'])
      .execute();

    await db.schema
      .createTable('bindings')
      .addColumn('extension_point_id', text, (column) => column.notNull())
      .addColumn('guest_id', text, (column) => column.notNull().references('guests.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('user_id', text, (column) => column.notNull())
      .addColumn('version_id', text, (column) => column.notNull().references('versions.id').onDelete('cascade'))
      .addColumn('updated_at_ms', bigint, (column) => column.notNull())
      .addPrimaryKeyConstraint('bindings_pk', ['extension_point_id', 'guest_id', 'name'])
      .addForeignKeyConstraint(
        'bindings_plugin',
        ['extension_point_id', 'user_id', 'name'],
        'plugins',
        ['extension_point_id', 'user_id', 'name'],
        (constraint) => constraint.onDelete('cascade'),
      )
      .execute();
    await db.schema
      .createIndex('bindings_by_plugin')
      .on('bindings')
      .columns(['extension_point_id', 'user_id', 'name'])
      .execute();
    await db.schema.createIndex('bindings_by_guest').on('bindings').columns(['guest_id', 'user_id']).execute();
    await db.schema.createIndex('bindings_by_version').on('bindings').column('version_id').execute();

    await db.schema
      .createTable('tokens')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('secret_hash', text, (column) => column.notNull().unique())
      .addColumn('scopes', text, (column) => column.notNull())
      .addColumn('app_id', text, (column) => column.references('apps.id').onDelete('cascade'))
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('expires_at_ms', bigint, (column) => column.notNull())
      .addColumn('last_used_at_ms', bigint)
      .execute();
    await db.schema.createIndex('tokens_by_user').on('tokens').columns(['user_id', 'id']).execute();
    await db.schema.createIndex('tokens_by_app').on('tokens').column('app_id').execute();

    await db.schema
      .createTable('api_keys')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('user_id', text, (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('secret_hash', text, (column) => column.notNull().unique())
      .addColumn('created_at_ms', bigint, (column) => column.notNull())
      .addColumn('last_used_at_ms', bigint)
      .execute();
    await db.schema.createIndex('api_keys_by_user').on('api_keys').columns(['user_id', 'id']).execute();
  },
};
