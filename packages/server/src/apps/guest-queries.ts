import type { AppId, GuestId, UserId } from '@tenon/protocol';
import { sql } from 'kysely';
import { allContentsTag, type CacheTag, membershipTag, readableContentsTag } from '../cache/cache-tag.ts';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { naturalKey } from '../db/natural-key.ts';
import { atMost, contains, countMatches, equals, inChunks, type Orders, setOf, sorted } from '../db/page-queries.ts';
import type { GuestSearch, GuestSort, GuestToAttest, SortedPage } from '../db/query-types.ts';
import {
  columns,
  type GuestRecord,
  type GuestUserRecord,
  type HeldGuest,
  type InvitationRecord,
} from '../db/records.ts';

const guestOrders: Orders<GuestSort> = {
  createdAt: [sql.ref('guests.id')],
  guestKey: [sql.ref('guests.sortKey'), sql.ref('guests.id')],
};

/** Whether the row of a subquery belongs to the guest of the query around it. */
const ofGuest = (table: 'guest_users' | 'invitations') => sql<boolean>`${sql.table(table)}."guestId" = guests.id`;

function guestsFound(db: Db, appId: AppId, { text, guestKey, state, nowMs }: GuestSearch) {
  let guests = db.selectFrom('guests').select(columns.guests).where('guests.appId', '=', appId);
  const users = db
    .selectFrom('guest_users')
    .innerJoin('users', 'users.id', 'guest_users.userId')
    .select('users.id')
    .where(ofGuest('guest_users'));
  const invitations = db.selectFrom('invitations').select('invitations.id').where(ofGuest('invitations'));
  const pending = invitations.where('status', '=', 'pending').where('expiresAtMs', '>', nowMs);
  if (guestKey !== undefined) guests = guests.where('guests.guestKey', '=', guestKey);
  if (state !== undefined) {
    guests = guests.where(({ and, exists, not }) => {
      if (state === 'active') return exists(users);
      return and([not(exists(users)), state === 'invited' ? exists(pending) : not(exists(pending))]);
    });
  }
  if (text === undefined) return guests;
  return guests.where(({ or, exists }) =>
    or([
      contains('guests.guestKey', text),
      contains('guests.label', text),
      contains('guests.note', text),
      exists(users.where((eb) => eb.or([contains('users.name', text), equals('users.id', text)]))),
      exists(
        invitations.where((eb) => eb.or([contains('invitations.name', text), contains('invitations.email', text)])),
      ),
    ]),
  );
}

/** Finds all guests. */
const everything: GuestSearch = { nowMs: 0 };

export const guestQueries = {
  guest: (db: Db, id: GuestId): Promise<GuestRecord | undefined> =>
    db.selectFrom('guests').select(columns.guests).where('id', '=', id).executeTakeFirst(),

  /** Returns an application's guests in the order of the bytes of their keys. */
  guestsToAttest(db: Db, appId: AppId, afterKey: string | undefined, limit: number): Promise<GuestToAttest[]> {
    const guests = db
      .selectFrom('guests')
      .select(['id', 'guestKey'])
      .where('appId', '=', appId)
      .orderBy('guestKey')
      .limit(limit);
    return (afterKey === undefined ? guests : guests.where('guestKey', '>', afterKey)).execute();
  },

  /** Returns the keys of guests, by id. */
  async guestKeys(db: Db, ids: readonly GuestId[]): Promise<ReadonlyMap<GuestId, string>> {
    const rows = await db.selectFrom('guests').select(['id', 'guestKey']).where('id', 'in', setOf(ids)).execute();
    return new Map(rows.map(({ id, guestKey }) => [id, guestKey]));
  },

  guestByKey: (db: Db, appId: AppId, guestKey: string): Promise<GuestRecord | undefined> =>
    db
      .selectFrom('guests')
      .select(columns.guests)
      .where('appId', '=', appId)
      .where('guestKey', '=', guestKey)
      .executeTakeFirst(),

  guests: (
    db: Db,
    appId: AppId,
    page: SortedPage<GuestSort>,
    search: GuestSearch = everything,
  ): Promise<GuestRecord[]> => sorted(guestsFound(db, appId, search), guestOrders, page, 'createdAt').execute(),

  countGuestsFound: (db: Db, appId: AppId, search: GuestSearch): Promise<number> =>
    countMatches(db, guestsFound(db, appId, search)),

  /** The newest invitation of each of these guests. */
  latestInvitations: (db: Db, guestIds: readonly GuestId[]): Promise<InvitationRecord[]> =>
    inChunks(guestIds, (chunk) =>
      db
        .selectFrom('invitations')
        .select(columns.invitations)
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('invitations as others')
            .select(({ fn }) => fn.max('others.id').as('id'))
            .where('others.guestId', 'in', chunk)
            .groupBy('others.guestId'),
        )
        .execute(),
    ),

  /** The guests that a user holds in an application, by id; with `guestId`, only that one. */
  guestsHeldBy(
    db: Db,
    userId: UserId,
    appId: AppId,
    {
      limit,
      after,
      guestId,
    }: {
      readonly limit?: number;
      readonly after?: string | undefined;
      readonly guestId?: string | undefined;
    } = {},
  ): Promise<HeldGuest[]> {
    // A subquery, because for a join the planner would scan all guests of the application.
    let held = db.selectFrom('guest_users').select('guestId').where('userId', '=', userId);
    if (after !== undefined) held = held.where('guestId', '>', after as GuestId);
    if (guestId !== undefined) held = held.where('guestId', '=', guestId as GuestId);
    const guests = db
      .selectFrom('guests')
      .select(columns.heldGuests)
      .where('appId', '=', appId)
      .where('id', 'in', held);
    return atMost(guests.orderBy('id'), limit).execute();
  },

  /** The guests that a user holds in some applications, by application and id. */
  guestsHeldIn(db: Db, userId: UserId, appIds: readonly AppId[], limit?: number): Promise<HeldGuest[]> {
    const held = db.selectFrom('guest_users').select('guestId').where('userId', '=', userId);
    return inChunks(
      appIds,
      (chunk, left) => {
        const guests = db
          .selectFrom('guests')
          .select(columns.heldGuests)
          .where('appId', 'in', chunk)
          .where('id', 'in', held);
        return atMost(guests.orderBy('appId').orderBy('id'), left).execute();
      },
      limit,
    );
  },

  /** The users of guests, with their names, by guest id and user id. */
  usersOfGuests(
    db: Db,
    guestIds: readonly GuestId[],
    limit?: number,
  ): Promise<(GuestUserRecord & { readonly userName: string })[]> {
    return inChunks(
      guestIds.toSorted(),
      (chunk, left) => {
        const users = db
          .selectFrom('guest_users')
          .innerJoin('users', 'users.id', 'guest_users.userId')
          .select(columns.guestUsers)
          .select('users.name as userName')
          .where('guest_users.guestId', 'in', chunk);
        return atMost(users.orderBy('guest_users.guestId').orderBy('guest_users.userId'), left).execute();
      },
      limit,
    );
  },
};

/** The cache tags that change if a user gets or loses guests of one application. */
function holderTags([guestId]: readonly GuestId[], userId: UserId): (db: Db) => Promise<readonly CacheTag[]> {
  return async (db) => {
    const guest = guestId === undefined ? undefined : await guestQueries.guest(db, guestId);
    return guest === undefined ? [] : [membershipTag(userId, guest.appId), readableContentsTag(userId)];
  };
}

/** The cache tags of the memberships that include a guest. */
function membershipTags(guestId: GuestId): (db: Db) => Promise<readonly CacheTag[]> {
  return async (db) => {
    const users = await db
      .selectFrom('guest_users')
      .innerJoin('guests', 'guests.id', 'guest_users.guestId')
      .select(['guest_users.userId', 'guests.appId'])
      .where('guest_users.guestId', '=', guestId)
      .execute();
    return users.map(({ userId, appId }) => membershipTag(userId, appId));
  };
}

/** Deletes the trust rules for plugins of users that hold no guest in the application. */
async function deleteRulesOfOthers(db: Db, appIds: readonly AppId[], userId?: UserId): Promise<void> {
  let rules = db.deleteFrom('trust_rules').where('appId', 'in', setOf(appIds)).where('guestId', 'is', null);
  if (userId !== undefined) rules = rules.where('userId', '=', userId);
  await rules
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('guest_users')
            .innerJoin('guests', 'guests.id', 'guest_users.guestId')
            .select('guests.id')
            .whereRef('guest_users.userId', '=', 'trust_rules.userId')
            .whereRef('guests.appId', '=', 'trust_rules.appId'),
        ),
      ),
    )
    .execute();
}

export const guestMutations = {
  insertGuest: statement({ audit: true, invalidates: nothing }, (db: Db, guest: GuestRecord) =>
    db.insertInto('guests').values({ ...guest, sortKey: naturalKey(guest.guestKey) }),
  ),

  /** The label is part of its users' memberships. */
  updateGuest: statement(
    { audit: true, invalidates: (id) => membershipTags(id) },
    (db: Db, id: GuestId, fields: Partial<Pick<GuestRecord, 'label' | 'note' | 'ring'>>) =>
      db.updateTable('guests').set(fields).where('id', '=', id),
  ),

  /**
   * Also deletes the guest's invitations, users, bindings and trust rules, by foreign keys, and the trust rules of users that are no guests
   * any more. Plugins and versions stay.
   */
  deleteGuest: mutation(
    {
      audit: true,
      invalidates: (id) => async (db) => {
        const guest = await guestQueries.guest(db, id);
        return guest === undefined ? [] : [guest.appId, allContentsTag];
      },
      changes: (changed, db, guestId) => changed.addBound(db, { guestIds: [guestId] }),
      usesDiskReserve: true,
    },
    async (db: Db, id: GuestId): Promise<void> => {
      const guest = await guestQueries.guest(db, id);
      await db.deleteFrom('guests').where('id', '=', id).execute();
      if (guest !== undefined) await deleteRulesOfOthers(db, [guest.appId]);
    },
  ),

  /** Adds a user to a guest. Does nothing if the user holds it. */
  putGuestUser: statement(
    { audit: true, invalidates: ({ guestId, userId }) => holderTags([guestId], userId) },
    (db: Db, guestUser: GuestUserRecord) =>
      db
        .insertInto('guest_users')
        .values(guestUser)
        .onConflict((conflict) => conflict.columns(['guestId', 'userId']).doNothing()),
  ),

  /**
   * Removes a user from guests of one application. Also deletes the user's bindings, reserved names, trust rules, and publications under
   * these guests.
   */
  deleteGuestUser: mutation(
    {
      audit: true,
      invalidates: holderTags,
      changes: (changed, db, guestIds, userId) => changed.addBound(db, { guestIds, userId }),
      usesDiskReserve: true,
    },
    async (db: Db, guestIds: readonly GuestId[], userId: UserId): Promise<void> => {
      for (const table of ['guest_users', 'bindings', 'name_reservations', 'trust_rules'] as const) {
        await db.deleteFrom(table).where('guestId', 'in', setOf(guestIds)).where('userId', '=', userId).execute();
      }
      await db
        .deleteFrom('version_guests')
        .where('guestId', 'in', setOf(guestIds))
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('versions')
              .select('versions.id')
              .whereRef('versions.id', '=', 'version_guests.versionId')
              .where('versions.userId', '=', userId),
          ),
        )
        .execute();
      const [guestId] = guestIds;
      const guest = guestId === undefined ? undefined : await guestQueries.guest(db, guestId);
      if (guest !== undefined) await deleteRulesOfOthers(db, [guest.appId], userId);
    },
  ),
};
