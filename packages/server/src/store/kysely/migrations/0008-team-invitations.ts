import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../migrate.ts';

/** An invitation names a guest or a role, never both. SQLite can't take `not null` off a column, so the table is made again. */
export async function addTeamInvitations(db: Kysely<unknown>, { text, bigint }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('new_invitations')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('app_id', text, (column) => column.notNull().references('apps.id').onDelete('cascade'))
    .addColumn('guest_id', text, (column) => column.references('guests.id').onDelete('cascade'))
    .addColumn('role', text)
    .addColumn('code_hash', text, (column) => column.notNull().unique())
    .addColumn('status', text, (column) => column.notNull())
    .addColumn('email', text)
    .addColumn('name', text)
    .addColumn('created_by', text, (column) => column.notNull().references('users.id'))
    .addColumn('created_at_ms', bigint, (column) => column.notNull())
    .addColumn('expires_at_ms', bigint, (column) => column.notNull())
    .addColumn('settled_at_ms', bigint)
    .addColumn('signed_up_user_id', text, (column) => column.references('users.id').onDelete('set null'))
    .addCheckConstraint('invitations_target', sql`(guest_id is null) != (role is null)`)
    .execute();
  const columns = sql.raw(
    'id, app_id, guest_id, code_hash, status, email, name, created_by, created_at_ms, expires_at_ms, settled_at_ms, signed_up_user_id',
  );
  await sql`insert into new_invitations (${columns}) select ${columns} from invitations`.execute(db);
  await db.schema.dropTable('invitations').execute();
  await db.schema.alterTable('new_invitations').renameTo('invitations').execute();
  const indexes = {
    invitations_by_app: ['app_id', 'id'],
    invitations_by_guest: ['guest_id'],
    invitations_by_creator: ['created_by', 'app_id'],
    invitations_by_sign_up: ['signed_up_user_id'],
  };
  for (const [name, of] of Object.entries(indexes)) {
    await db.schema.createIndex(name).on('invitations').columns(of).execute();
  }
  await db.schema
    .createIndex('invitations_to_team')
    .on('invitations')
    .columns(['app_id', 'id'])
    .where(sql.ref('role'), 'is not', null)
    .execute();
}
