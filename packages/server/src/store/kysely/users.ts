import type { UserId } from '@tenon/protocol';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';

export function userQueries(
  db: Db,
): Pick<Queries, 'user' | 'userByEmail' | 'password' | 'passwordByEmail' | 'anyUser'> {
  const users = db.selectFrom('users').select(columns.users);
  const passwords = db.selectFrom('passwords').select(columns.passwords);
  return {
    user: (id) => users.where('id', '=', id).executeTakeFirst(),
    userByEmail: (email) => users.where('email', '=', email).executeTakeFirst(),
    password: (userId) => passwords.where('userId', '=', userId).executeTakeFirst(),
    passwordByEmail: (email) =>
      passwords.innerJoin('users', 'users.id', 'passwords.userId').where('users.email', '=', email).executeTakeFirst(),
    anyUser: async () => (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined,
  };
}

/** Where a user's own things are. Codes go before the tokens that they name. */
const tablesOfUsers = [
  'passwords',
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

export function userMutations(
  db: Db,
): Pick<Mutations, 'insertUser' | 'renameUser' | 'setEmail' | 'putPassword' | 'eraseUser'> {
  return {
    async insertUser(user) {
      await db
        .insertInto('users')
        .values({ ...user, publishPaidAtMs: 0 })
        .execute();
    },
    async renameUser(id, name) {
      await db.updateTable('users').set({ name }).where('id', '=', id).execute();
    },
    async setEmail(id, email) {
      await db.updateTable('users').set({ email }).where('id', '=', id).execute();
    },
    async putPassword(password) {
      const { hash, updatedAtMs } = password;
      await db
        .insertInto('passwords')
        .values(password)
        .onConflict((conflict) => conflict.column('userId').doUpdateSet({ hash, updatedAtMs }))
        .execute();
    },
    async eraseUser(id, { name, deletedAtMs }) {
      for (const table of tablesOfUsers) await db.deleteFrom(table).where('userId', '=', id).execute();
      // Versions and bindings go with the plugins. Plugins that are marked as deleted go in pieces.
      await db.deleteFrom('plugins').where('userId', '=', id).where('deletedAtMs', 'is', null).execute();
      await forgetInAudit(db, id, name);
      await db.updateTable('users').set({ name, email: null, deletedAtMs }).where('id', '=', id).execute();
    },
  };
}

/** What applications are told of the user stays, under the name that is given; what nobody but the user could read goes. */
async function forgetInAudit(db: Db, id: UserId, name: string): Promise<void> {
  await db.deleteFrom('audit_events').where('accountId', '=', id).where('appId', 'is', null).execute();
  await db
    .updateTable('audit_events')
    .set({ userName: name, viaName: null, address: null })
    .where('accountId', '=', id)
    .where('userId', '=', id)
    .execute();
  await db.updateTable('audit_events').set({ targetName: name }).where('targetId', '=', id).execute();
}
