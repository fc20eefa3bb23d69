import type { GuestId } from '@tenon/protocol';
import type { Mutations, Queries } from '../../domain/ports.ts';
import { atMost, inChunks, paged, setOf } from './paging.ts';
import type { Db } from './schema.ts';

const columns = [
  'guests.id',
  'guests.app_id as appId',
  'guests.guest_key as guestKey',
  'guests.created_at_ms as createdAtMs',
] as const;

export function guestQueries(
  db: Db,
): Pick<Queries, 'guest' | 'guestByKey' | 'guests' | 'guestsHeldBy' | 'guestsHeldIn' | 'usersOfGuests'> {
  return {
    guest: (id) => db.selectFrom('guests').select(columns).where('id', '=', id).executeTakeFirst(),
    guestByKey: (appId, guestKey) =>
      db
        .selectFrom('guests')
        .select(columns)
        .where('app_id', '=', appId)
        .where('guest_key', '=', guestKey)
        .executeTakeFirst(),
    guests: (appId, page) =>
      paged(db.selectFrom('guests').select(columns).where('app_id', '=', appId), 'id', page).execute(),
    guestsHeldBy(userId, appId, { limit, after, guestId } = {}) {
      // Not a join: the planner would go through all guests of the application, and look who holds them.
      let held = db.selectFrom('guest_users').select('guest_id').where('user_id', '=', userId);
      if (after !== undefined) held = held.where('guest_id', '>', after as GuestId);
      if (guestId !== undefined) held = held.where('guest_id', '=', guestId as GuestId);
      const guests = db.selectFrom('guests').select(columns).where('app_id', '=', appId).where('id', 'in', held);
      return atMost(guests.orderBy('id'), limit).execute();
    },
    guestsHeldIn(userId, appIds, limit) {
      const held = db.selectFrom('guest_users').select('guest_id').where('user_id', '=', userId);
      return inChunks(
        appIds,
        (chunk, left) => {
          const guests = db.selectFrom('guests').select(columns).where('app_id', 'in', chunk).where('id', 'in', held);
          return atMost(guests.orderBy('app_id').orderBy('id'), left).execute();
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
    .innerJoin('users', 'users.id', 'guest_users.user_id')
    .select([
      'guest_users.guest_id as guestId',
      'guest_users.user_id as userId',
      'guest_users.accepted_at_ms as acceptedAtMs',
      'users.name as userName',
    ])
    .where('guest_users.guest_id', 'in', guestIds);
  if (limit === undefined) return users.execute();
  return users.orderBy('guest_users.guest_id').orderBy('guest_users.user_id').limit(limit).execute();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function guestMutations(
  db: Db,
): Pick<Mutations, 'insertGuest' | 'deleteGuest' | 'putGuestUser' | 'deleteGuestUser'> {
  return {
    async insertGuest({ id, appId, guestKey, createdAtMs }) {
      await db
        .insertInto('guests')
        .values({ id, app_id: appId, guest_key: guestKey, created_at_ms: createdAtMs })
        .execute();
    },
    async deleteGuest(id) {
      await db.deleteFrom('guests').where('id', '=', id).execute();
    },
    async putGuestUser({ guestId, userId, acceptedAtMs }) {
      await db
        .insertInto('guest_users')
        .values({ guest_id: guestId, user_id: userId, accepted_at_ms: acceptedAtMs })
        .onConflict((conflict) => conflict.columns(['guest_id', 'user_id']).doNothing())
        .execute();
    },
    async deleteGuestUser(guestIds, userId) {
      for (const table of ['guest_users', 'bindings', 'name_reservations'] as const) {
        await db.deleteFrom(table).where('guest_id', 'in', setOf(guestIds)).where('user_id', '=', userId).execute();
      }
      await db
        .deleteFrom('version_guests')
        .where('guest_id', 'in', setOf(guestIds))
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('versions')
              .select('versions.id')
              .whereRef('versions.id', '=', 'version_guests.version_id')
              .where('versions.user_id', '=', userId),
          ),
        )
        .execute();
    },
  };
}
