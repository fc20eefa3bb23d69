import type { UserId } from '@tenon/protocol';
import { allContentsTag } from '../cache/cache-tag.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { setOf } from '../db/page-queries.ts';
import { columns, type PasswordRecord, type UserRecord } from '../db/records.ts';

const users = (db: Db) => db.selectFrom('users').select(columns.users);
const passwords = (db: Db) => db.selectFrom('passwords').select(columns.passwords);

export const userQueries = {
  user: (db: Db, id: UserId): Promise<UserRecord | undefined> => users(db).where('id', '=', id).executeTakeFirst(),

  /** The names of users, by their ids. */
  async userNames(db: Db, ids: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const rows = await db.selectFrom('users').select(['id', 'name']).where('id', 'in', setOf(ids)).execute();
    return new Map(rows.map(({ id, name }) => [id, name]));
  },

  /** @param email the normalized address */
  userByEmail: (db: Db, email: string): Promise<UserRecord | undefined> =>
    users(db).where('email', '=', email).executeTakeFirst(),

  password: (db: Db, userId: UserId): Promise<PasswordRecord | undefined> =>
    passwords(db).where('userId', '=', userId).executeTakeFirst(),

  /** The password of the user with an e-mail address. */
  passwordByEmail: (db: Db, email: string): Promise<PasswordRecord | undefined> =>
    passwords(db)
      .innerJoin('users', 'users.id', 'passwords.userId')
      .where('users.email', '=', email)
      .executeTakeFirst(),

  /** Whether any user exists or existed. */
  anyUser: (db: Db): Promise<boolean> => hasRow(db.selectFrom('users').select('id')),
};

/** The tables whose rows belong to one user. Codes come before the tokens that they refer to. */
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
  'reserved_semvers',
  'guest_users',
  'members',
  'operators',
] as const;

export const userMutations = {
  /** @throws ConflictError if another user has the e-mail address */
  insertUser: statement({ audit: true, invalidates: nothing }, (db: Db, user: UserRecord) =>
    // No publish is charged yet: see `charge()` in quotas.ts.
    db.insertInto('users').values({ ...user, publishChargedUntilMs: 0 }),
  ),

  renameUser: statement({ audit: true, invalidates: nothing }, (db: Db, id: UserId, name: string) =>
    db.updateTable('users').set({ name }).where('id', '=', id),
  ),

  /** @throws ConflictError if another user has the e-mail address */
  setEmail: statement({ audit: true, invalidates: nothing }, (db: Db, id: UserId, email: string) =>
    db.updateTable('users').set({ email }).where('id', '=', id),
  ),

  putPassword: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, password: PasswordRecord): Promise<void> => {
      const { hash, updatedAtMs } = password;
      await db
        .insertInto('passwords')
        .values(password)
        .onConflict((conflict) => conflict.column('userId').doUpdateSet({ hash, updatedAtMs }))
        .execute();
    },
  ),

  /**
   * Deletes all rows of a user: those of {@link tablesOfUsers}, plugins with their versions and bindings, and the user's audit
   * trail. The user's row stays, with the given name and without the e-mail address. The audit trails of applications stay too,
   * with the given name.
   */
  eraseUser: mutation(
    {
      audit: true,
      invalidates: (id) => [id, allContentsTag],
      changes: (changed, db, userId) => changed.addBound(db, { userId, isDeleted: false }),
      usesDiskReserve: true,
    },
    async (
      db: Db,
      id: UserId,
      { name, deletedAtMs }: { readonly name: string; readonly deletedAtMs: number },
    ): Promise<void> => {
      for (const table of tablesOfUsers) await db.deleteFrom(table).where('userId', '=', id).execute();
      // This deletes versions and bindings by foreign keys. Plugins that are marked as deleted are purged in batches.
      await db.deleteFrom('plugins').where('userId', '=', id).where('deletedAtMs', 'is', null).execute();
      await anonymizeAudit(db, id, name);
      await db.updateTable('users').set({ name, email: null, deletedAtMs }).where('id', '=', id).execute();
    },
  ),
};

/** Deletes the events that only the user can read, and replaces the user's name in the others. */
async function anonymizeAudit(db: Db, id: UserId, name: string): Promise<void> {
  await db.deleteFrom('audit_events').where('accountId', '=', id).where('appId', 'is', null).execute();
  await db
    .updateTable('audit_events')
    .set({ userName: name, viaName: null, address: null })
    .where('accountId', '=', id)
    .where('userId', '=', id)
    .execute();
  await db.updateTable('audit_events').set({ targetName: name }).where('targetId', '=', id).execute();
}
