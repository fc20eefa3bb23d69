import { type Kysely, sql } from 'kysely';
import type { ColumnTypes, Migration } from '../migrate.ts';

/*
 *   plugins ─┬─ versions ── version_guests ── guests
 *            │
 *            └─ bindings ─→ the versions that are bound, pinned, and rolled back to
 *
 * A binding is from now on a plugin's claim to its name under a guest, which it has also while nothing is bound. What was
 * published before is published now, and every binding keeps its version.
 */
export const versions: Migration = {
  name: 'versions',
  async up(db, types) {
    await extendExtensionPoints(db, types);
    await extendVersions(db, types);
    await extendPlugins(db, types);
    await remakeBindings(db, types);
    await makeVersionGuests(db, types);
  },
};

async function extendExtensionPoints(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable('extension_points')
    .addColumn('requires_approval', bigint, (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('extension_points')
    .addColumn('limits_json', text, (column) => column.notNull().defaultTo('{}'))
    .execute();
}

async function extendVersions(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  const add = db.schema.alterTable('versions');
  await add.addColumn('semver', text).execute();
  await add.addColumn('note', text).execute();
  await add.addColumn('interface_json', text).execute();
  await add.addColumn('state', text, (column) => column.notNull().defaultTo('published')).execute();
  await add.addColumn('state_reason', text).execute();
  await add.addColumn('state_at_ms', bigint, (column) => column.notNull().defaultTo(0)).execute();
  await add.addColumn('state_side', text).execute();
  await sql`update versions set state_at_ms = created_at_ms`.execute(db);
  await db.schema
    .createIndex('versions_awaiting_approval')
    .on('versions')
    .columns(['app_id', 'id'])
    .where(sql.ref('state'), '=', sql.lit('awaiting_approval'))
    .execute();
}

async function extendPlugins(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  const add = db.schema.alterTable('plugins');
  await add.addColumn('blocked_at_ms', bigint).execute();
  await add.addColumn('blocked_reason', text).execute();
}

/** SQLite can't take `not null` off a column: https://www.sqlite.org/lang_altertable.html#otheralter */
async function remakeBindings(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('new_bindings')
    .addColumn('extension_point_id', text, (column) => column.notNull())
    .addColumn('guest_id', text, (column) => column.notNull().references('guests.id').onDelete('cascade'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('user_id', text, (column) => column.notNull())
    .addColumn('version_id', text, (column) => column.references('versions.id').onDelete('cascade'))
    .addColumn('pinned_version_id', text, (column) => column.references('versions.id').onDelete('cascade'))
    .addColumn('selected_version_id', text, (column) => column.references('versions.id').onDelete('cascade'))
    .addColumn('updated_at_ms', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('bindings_name', ['extension_point_id', 'guest_id', 'name'])
    .addForeignKeyConstraint(
      'bindings_of_plugin',
      ['extension_point_id', 'user_id', 'name'],
      'plugins',
      ['extension_point_id', 'user_id', 'name'],
      (constraint) => constraint.onDelete('cascade'),
    )
    .execute();
  const columns = sql.raw('extension_point_id, guest_id, name, user_id, version_id, updated_at_ms');
  await sql`insert into new_bindings (${columns}) select ${columns} from bindings`.execute(db);
  await db.schema.dropTable('bindings').execute();
  await db.schema.alterTable('new_bindings').renameTo('bindings').execute();
  const indexes = {
    bindings_by_plugin: ['extension_point_id', 'user_id', 'name'],
    bindings_by_guest: ['guest_id', 'user_id'],
    bindings_by_version: ['version_id'],
    bindings_by_pin: ['pinned_version_id'],
    bindings_by_selection: ['selected_version_id'],
  };
  for (const [name, of] of Object.entries(indexes)) {
    await db.schema.createIndex(name).on('bindings').columns(of).execute();
  }
}

/**
 * Under which guests versions were published was not kept so far. What is bound now was, and what came before it is taken
 * for it too: those are what a roll back, or a yank of what is bound, can lead to. Newer ones than what is bound were
 * published under other guests alone.
 */
async function makeVersionGuests(db: Kysely<unknown>, { text }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('version_guests')
    .addColumn('version_id', text, (column) => column.notNull().references('versions.id').onDelete('cascade'))
    .addColumn('guest_id', text, (column) => column.notNull().references('guests.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('version_guests_pk', ['version_id', 'guest_id'])
    .execute();
  await db.schema
    .createIndex('version_guests_by_guest')
    .on('version_guests')
    .columns(['guest_id', 'version_id'])
    .execute();
  await sql`
    insert into version_guests (version_id, guest_id)
    select versions.id, bindings.guest_id
    from bindings
    join versions as bound on bound.id = bindings.version_id
    join versions on versions.extension_point_id = bindings.extension_point_id
      and versions.user_id = bindings.user_id
      and versions.name = bindings.name
      and versions.number <= bound.number
  `.execute(db);
}
