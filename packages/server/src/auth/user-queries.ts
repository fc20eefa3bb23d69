import type { UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import { allAuditSalts, deleteAuditSalts } from '../audit/chain-queries.ts';
import { allContentsTag } from '../cache/cache-tag.ts';
import { type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import {
  contains,
  countMatches,
  cursorOfValues,
  equals,
  lowerAscii,
  type Orders,
  setOf,
  sorted,
} from '../db/page-queries.ts';
import type { ListedUser, SortedPage, UserSearch, UserSort } from '../db/query-types.ts';
import { columns, type PasswordRecord, type UserRecord } from '../db/records.ts';

const users = (db: Db) => db.selectFrom('users').select(columns.users);
const passwords = (db: Db) => db.selectFrom('passwords').select(columns.passwords);

const userOrders: Orders<UserSort> = {
  createdAt: [sql.ref('users.id')],
  name: [sql`lower(users.name)`, sql.ref('users.id')],
  lastSeenAt: [sql.ref('users.lastSeenAtMs'), sql.ref('users.id')],
};

/** The cursor of a user in one of the orders of the list. */
export function userCursor({ id, name, lastSeenAtMs }: UserRecord, sort: UserSort = 'createdAt'): string {
  if (sort.endsWith('createdAt')) return id;
  return cursorOfValues(sort.endsWith('name') ? lowerAscii(name) : String(lastSeenAtMs), id);
}

/** The users that were not deleted. */
function usersFound(db: Db, { text, state }: UserSearch) {
  const operators = db
    .selectFrom('operators')
    .select('operators.userId')
    .where(sql<boolean>`operators."userId" = users.id`);
  let found = users(db)
    .select(({ exists }) => exists(operators).as('isOperator'))
    .where('users.deletedAtMs', 'is', null);
  if (state === 'operator') found = found.where(({ exists }) => exists(operators));
  if (state === 'suspended') found = found.where('users.suspendedAtMs', 'is not', null);
  if (state === 'active') found = found.where('users.suspendedAtMs', 'is', null);
  if (text === undefined) return found;
  return found.where(({ or }) =>
    or([contains('users.name', text), contains('users.email', text), equals('users.id', text)]),
  );
}

export const userQueries = {
  /** The users of the server that were not deleted. */
  async users(db: Db, page: SortedPage<UserSort>, search: UserSearch = {}): Promise<ListedUser[]> {
    const cursor = page.before ?? page.after;
    // PostgreSQL fails for a cursor that isn't a number there.
    if (page.sort?.endsWith('lastSeenAt') && cursor !== undefined && !/^\["\d{1,15}",/.test(cursor)) return [];
    const rows = await sorted(usersFound(db, search), userOrders, page, 'createdAt').execute();
    return rows.map((row) => ({ ...row, isOperator: Boolean(row.isOperator) }));
  },

  countUsersFound: (db: Db, search: UserSearch): Promise<number> => countMatches(db, usersFound(db, search)),

  /** How many applications each of these users belongs to, as a member or a guest. Users without applications are left out. */
  async countAppsOf(db: Db, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, number>> {
    const ofMembers = db.selectFrom('members').select(['userId', 'appId']).where('userId', 'in', setOf(userIds));
    const ofGuests = db
      .selectFrom('guest_users')
      .innerJoin('guests', 'guests.id', 'guest_users.guestId')
      .select(['guest_users.userId', 'guests.appId'])
      .where('guest_users.userId', 'in', setOf(userIds));
    const rows = await db
      .selectFrom(ofMembers.union(ofGuests).as('matches'))
      .innerJoin('apps', 'apps.id', 'matches.appId')
      .select((eb) => ['matches.userId', eb.fn.countAll<number>().as('count')])
      .where('apps.deletedAtMs', 'is', null)
      .groupBy('matches.userId')
      .execute();
    return new Map(rows.map(({ userId, count }) => [userId, count]));
  },

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
  'oci_uploads',
  'passkey_challenges',
  'pending_sign_ins',
  'recovery_codes',
  'passwords',
  'known_browsers',
  'one_time_links',
  'authorization_codes',
  'device_grants',
  'tokens',
  'trust_rules',
  'sessions',
  'passkeys',
  'api_keys',
  'withdrawals',
  'name_reservations',
  'reserved_semvers',
  'guest_users',
  'blocked_publishers',
  'members',
  'operators',
  'mails',
  'mailed_codes',
  'mail_preferences',
  'quota_overrides',
  'quota_warnings',
  'identities',
  'granted_memberships',
  'granted_operators',
] as const;

export const userMutations = {
  /** @throws ConflictError if another user has the e-mail address */
  insertUser: statement({ audit: true, invalidates: nothing }, (db: Db, user: UserRecord) =>
    // Nothing is charged yet: see `charge()` in quotas.ts.
    db.insertInto('users').values({ ...user, publishChargedUntilMs: 0, mailsChargedUntilMs: 0 }),
  ),

  renameUser: statement({ audit: true, invalidates: nothing }, (db: Db, id: UserId, name: string) =>
    db.updateTable('users').set({ name }).where('id', '=', id),
  ),

  /** Suspends a user, or ends the suspension. The credentials stay; each check of one reads whether its user is suspended. */
  setSuspended: statement(
    { audit: true, invalidates: (id) => [id], usesDiskReserve: true },
    (db: Db, id: UserId, suspendedAtMs: number | null) =>
      db.updateTable('users').set({ suspendedAtMs }).where('id', '=', id),
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
  const events = db.selectFrom('audit_events').select('id');
  const isOfAccount = events.where('accountId', '=', id);
  await deleteAuditSalts(db, allAuditSalts, isOfAccount.where('appId', 'is', null));
  const isAboutUser = isOfAccount.where((eb) => eb.or([eb('userId', '=', id), eb('userId', 'is', null)]));
  await deleteAuditSalts(db, ['personSalt'], isAboutUser);
  await deleteAuditSalts(db, ['targetSalt'], events.where('targetId', '=', id));
  await db.deleteFrom('audit_events').where('accountId', '=', id).where('appId', 'is', null).execute();
  // Refused token exchanges have an address and no user.
  await db
    .updateTable('audit_events')
    .set({ address: null })
    .where('accountId', '=', id)
    .where('userId', 'is', null)
    .execute();
  await db
    .updateTable('audit_events')
    .set({ userName: name, viaName: null, address: null })
    .where('accountId', '=', id)
    .where('userId', '=', id)
    .execute();
  await db.updateTable('audit_events').set({ targetName: name }).where('targetId', '=', id).execute();
}
