import type { UserId } from '@tenon/protocol';
import type { Mutations, Queries } from '../../domain/ports.ts';
import type { Db } from './schema.ts';

export function userQueries(db: Db): Pick<Queries, 'user' | 'anyUser'> {
  return {
    user: (id) =>
      db
        .selectFrom('users')
        .select(['id', 'name', 'email', 'created_at_ms as createdAtMs', 'deleted_at_ms as deletedAtMs'])
        .where('id', '=', id)
        .executeTakeFirst(),
    anyUser: async () => (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined,
  };
}

/** Where a user's own things are. Codes go before the tokens that they name. */
const tablesOfUsers = [
  'identities',
  'known_browsers',
  'one_time_links',
  'authorization_codes',
  'device_grants',
  'tokens',
  'sessions',
  'api_keys',
  'withdrawals',
  'name_reservations',
  'retired_labels',
  'guest_users',
  'members',
  'operators',
] as const;

export function userMutations(db: Db): Pick<Mutations, 'insertUser' | 'renameUser' | 'eraseUser'> {
  return {
    async insertUser({ id, name, email, createdAtMs, deletedAtMs }) {
      await db
        .insertInto('users')
        .values({ id, name, email, created_at_ms: createdAtMs, deleted_at_ms: deletedAtMs })
        .execute();
    },
    async renameUser(id, name) {
      await db.updateTable('users').set({ name }).where('id', '=', id).execute();
    },
    async eraseUser(id, { name, deletedAtMs }) {
      for (const table of tablesOfUsers) await db.deleteFrom(table).where('user_id', '=', id).execute();
      // Versions and bindings go with the plugins. Plugins that are marked as deleted go in pieces.
      await db.deleteFrom('plugins').where('user_id', '=', id).where('deleted_at_ms', 'is', null).execute();
      await forgetInAudit(db, id, name);
      await db
        .updateTable('users')
        .set({ name, email: null, deleted_at_ms: deletedAtMs })
        .where('id', '=', id)
        .execute();
    },
  };
}

/** What applications are told of the user stays, under the name that is given; what nobody but the user could read goes. */
async function forgetInAudit(db: Db, id: UserId, name: string): Promise<void> {
  await db.deleteFrom('audit_events').where('account_id', '=', id).where('app_id', 'is', null).execute();
  await db
    .updateTable('audit_events')
    .set({ user_name: name, via_name: null, address: null })
    .where('account_id', '=', id)
    .where('user_id', '=', id)
    .execute();
  await db.updateTable('audit_events').set({ target_name: name }).where('target_id', '=', id).execute();
}
