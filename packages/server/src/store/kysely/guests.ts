import type { GuestId } from '@tenon/protocol';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { atMost, inChunks, paged, setOf } from './paging.ts';

export function guestQueries(
  db: Db,
): Pick<Queries, 'guest' | 'guestByKey' | 'guests' | 'guestsHeldBy' | 'guestsHeldIn' | 'usersOfGuests'> {
  return {
    guest: (id) => db.selectFrom('guests').select(columns.guests).where('id', '=', id).executeTakeFirst(),
    guestByKey: (appId, guestKey) =>
      db
        .selectFrom('guests')
        .select(columns.guests)
        .where('appId', '=', appId)
        .where('guestKey', '=', guestKey)
        .executeTakeFirst(),
    guests: (appId, page) =>
      paged(db.selectFrom('guests').select(columns.guests).where('appId', '=', appId), 'id', page).execute(),
    guestsHeldBy(userId, appId, { limit, after, guestId } = {}) {
      // Not a join: the planner would go through all guests of the application, and look who holds them.
      let held = db.selectFrom('guest_users').select('guestId').where('userId', '=', userId);
      if (after !== undefined) held = held.where('guestId', '>', after as GuestId);
      if (guestId !== undefined) held = held.where('guestId', '=', guestId as GuestId);
      const guests = db.selectFrom('guests').select(columns.guests).where('appId', '=', appId).where('id', 'in', held);
      return atMost(guests.orderBy('id'), limit).execute();
    },
    guestsHeldIn(userId, appIds, limit) {
      const held = db.selectFrom('guest_users').select('guestId').where('userId', '=', userId);
      return inChunks(
        appIds,
        (chunk, left) => {
          const guests = db
            .selectFrom('guests')
            .select(columns.guests)
            .where('appId', 'in', chunk)
            .where('id', 'in', held);
          return atMost(guests.orderBy('appId').orderBy('id'), left).execute();
        },
        limit,
      );
    },
    async usersOfGuests(guestIds, limit) {
      const users = await inChunks(guestIds, (chunk, left) => usersOf(db, chunk, left), limit);
      if (limit !== undefined) return users;
      return users.sort(
        (a, b) => a.acceptedAtMs - b.acceptedAtMs || compare(a.guestId, b.guestId) || compare(a.userId, b.userId),
      );
    },
  };
}

function usersOf(db: Db, guestIds: readonly GuestId[], limit: number | undefined) {
  const users = db
    .selectFrom('guest_users')
    .innerJoin('users', 'users.id', 'guest_users.userId')
    .select(columns.guestUsers)
    .select('users.name as userName')
    .where('guest_users.guestId', 'in', guestIds);
  if (limit === undefined) return users.execute();
  return users.orderBy('guest_users.guestId').orderBy('guest_users.userId').limit(limit).execute();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function guestMutations(
  db: Db,
): Pick<Mutations, 'insertGuest' | 'deleteGuest' | 'putGuestUser' | 'deleteGuestUser'> {
  return {
    async insertGuest(guest) {
      await db.insertInto('guests').values(guest).execute();
    },
    async deleteGuest(id) {
      await db.deleteFrom('guests').where('id', '=', id).execute();
    },
    async putGuestUser(guestUser) {
      await db
        .insertInto('guest_users')
        .values(guestUser)
        .onConflict((conflict) => conflict.columns(['guestId', 'userId']).doNothing())
        .execute();
    },
    async deleteGuestUser(guestIds, userId) {
      for (const table of ['guest_users', 'bindings', 'name_reservations'] as const) {
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
    },
  };
}
