import type { AppId, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import { deleteAuditSalts } from '../audit/chain-queries.ts';
import { allContentsTag, membershipTag, readableContentsTag } from '../cache/cache-tag.ts';
import { appsOfGuestUser, appsOfMember, type Db, hasRow } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import {
  contains,
  countMatches,
  cursorOfValues,
  equals,
  lowerAscii,
  nameOrders,
  type Orders,
  sorted,
} from '../db/page-queries.ts';
import type { MemberSort, NameSort, SortedPage } from '../db/query-types.ts';
import { type AppRecord, columns, type MemberRecord } from '../db/records.ts';

const appOrders = nameOrders('apps');

/** The user's applications. With `appId`, only that one. */
function appsFound(db: Db, userId: UserId, appId: AppId | undefined, text: string | undefined) {
  let apps = db
    .selectFrom('apps')
    .select(columns.apps)
    .where('id', 'in', appsOfMember(db, userId).union(appsOfGuestUser(db, userId)))
    .where('deletedAtMs', 'is', null);
  if (appId !== undefined) apps = apps.where('id', '=', appId);
  if (text === undefined) return apps;
  return apps.where((eb) => eb.or([contains('apps.name', text), equals('apps.id', text)]));
}

/** Sorts the roles by their rights. */
const roleRank = sql<string>`case members.role when 'owner' then '0' when 'admin' then '1' else '2' end`;
const ranks = { owner: '0', admin: '1', viewer: '2' } as const;

const memberOrders: Orders<MemberSort> = {
  createdAt: [sql.ref('members.userId')],
  name: [sql`lower(users.name)`, sql.ref('members.userId')],
  role: [roleRank, sql`lower(users.name)`, sql.ref('members.userId')],
};

/** The cursor of a member in one of the orders of the list. */
export function memberCursor(
  { userId, userName, role }: MemberRecord & { readonly userName: string },
  sort: MemberSort = 'createdAt',
): string {
  if (sort === 'createdAt') return userId;
  const name = lowerAscii(userName);
  return sort.endsWith('role') ? cursorOfValues(ranks[role], name, userId) : cursorOfValues(name, userId);
}

function membersFound(db: Db, appId: AppId, text: string | undefined) {
  const members = db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.userId')
    .select(columns.members)
    .select('users.name as userName')
    .where('members.appId', '=', appId);
  if (text === undefined) return members;
  return members.where((eb) => eb.or([contains('users.name', text), equals('users.id', text)]));
}

export const appQueries = {
  app: (db: Db, id: AppId): Promise<AppRecord | undefined> =>
    db.selectFrom('apps').select(columns.apps).where('id', '=', id).where('deletedAtMs', 'is', null).executeTakeFirst(),

  /** The applications in which the user is a member or holds a guest. With `appId`, only that one; with `text`, those whose name contains it. */
  appsOf: (
    db: Db,
    userId: UserId,
    appId: AppId | undefined,
    page: SortedPage<NameSort>,
    text?: string,
  ): Promise<AppRecord[]> => sorted(appsFound(db, userId, appId, text), appOrders, page, 'createdAt').execute(),

  countAppsFound: (db: Db, userId: UserId, appId: AppId | undefined, text: string | undefined): Promise<number> =>
    countMatches(db, appsFound(db, userId, appId, text)),

  member: (db: Db, appId: AppId, userId: UserId): Promise<MemberRecord | undefined> =>
    db
      .selectFrom('members')
      .select(columns.members)
      .where('appId', '=', appId)
      .where('userId', '=', userId)
      .executeTakeFirst(),

  /** The members of an application, with their names. */
  members: (
    db: Db,
    appId: AppId,
    page: SortedPage<MemberSort>,
    text?: string,
  ): Promise<(MemberRecord & { readonly userName: string })[]> =>
    sorted(membersFound(db, appId, text), memberOrders, page, 'createdAt').execute(),

  countMembersFound: (db: Db, appId: AppId, text: string | undefined): Promise<number> =>
    countMatches(db, membersFound(db, appId, text)),

  async countOwners(db: Db, appId: AppId): Promise<number> {
    const { count } = await db
      .selectFrom('members')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('appId', '=', appId)
      .where('role', '=', 'owner')
      .executeTakeFirstOrThrow();
    return count;
  },

  /** Whether a user is a member of any application. */
  isMemberOfAny: (db: Db, userId: UserId): Promise<boolean> => hasRow(appsOfMember(db, userId)),

  /** The applications of which the user is the only owner, by id. */
  appsOwnedAlone(db: Db, userId: UserId): Promise<AppRecord[]> {
    const owned = appsOfMember(db, userId).where('role', '=', 'owner');
    return db
      .selectFrom('apps')
      .select(columns.apps)
      .where('id', 'in', owned)
      .where('deletedAtMs', 'is', null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('members')
              .select('members.appId')
              .whereRef('members.appId', '=', 'apps.id')
              .where('members.role', '=', 'owner')
              .where('members.userId', '!=', userId),
          ),
        ),
      )
      .orderBy('id')
      .execute();
  },
};

export const appMutations = {
  insertApp: statement({ audit: true, invalidates: nothing }, (db: Db, app: AppRecord) =>
    db.insertInto('apps').values(app),
  ),

  updateApp: statement(
    { audit: true, invalidates: (id) => [id] },
    (db: Db, id: AppId, { name, updatedAtMs }: { readonly name: string; readonly updatedAtMs: number }) =>
      db.updateTable('apps').set({ name, updatedAtMs }).where('id', '=', id),
  ),

  /** Sets whether the members need a passkey, which also decides who may read contents. */
  setRequiresPasskey: statement(
    { audit: true, invalidates: (id) => [id, allContentsTag] },
    (db: Db, id: AppId, requiresPasskey: boolean) =>
      db.updateTable('apps').set({ requiresPasskey }).where('id', '=', id),
  ),

  /**
   * Also deletes all rows that belong to the application, by foreign keys. Its audit events stay for the accounts that they belong
   * to, without guest keys.
   */
  deleteApp: mutation(
    {
      audit: true,
      invalidates: (id) => [id, allContentsTag],
      changes: (changed, _db, id) => changed.forget(id),
      usesDiskReserve: true,
    },
    async (db: Db, id: AppId): Promise<void> => {
      const events = db.selectFrom('audit_events').select('id').where('appId', '=', id);
      await deleteAuditSalts(db, ['guestsSalt'], events.where('guestKeys', 'is not', null));
      await db
        .updateTable('audit_events')
        .set({ guestKeys: null })
        .where('appId', '=', id)
        .where('guestKeys', 'is not', null)
        .execute();
      await db.deleteFrom('apps').where('id', '=', id).execute();
    },
  ),

  /** Adds a member, or changes the role of a present one. */
  putMember: statement(
    { audit: true, invalidates: ({ appId, userId }) => [membershipTag(userId, appId), readableContentsTag(userId)] },
    (db: Db, member: MemberRecord) =>
      db
        .insertInto('members')
        .values(member)
        .onConflict((conflict) => conflict.columns(['appId', 'userId']).doUpdateSet({ role: member.role })),
  ),

  deleteMember: statement(
    {
      audit: true,
      invalidates: (appId, userId) => [membershipTag(userId, appId), readableContentsTag(userId)],
      usesDiskReserve: true,
    },
    (db: Db, appId: AppId, userId: UserId) =>
      db.deleteFrom('members').where('appId', '=', appId).where('userId', '=', userId),
  ),
};
