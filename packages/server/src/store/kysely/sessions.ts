import type { Mutations, Queries } from '../../domain/ports.ts';
import { paged } from './paging.ts';
import type { Db } from './schema.ts';

const columns = [
  'id',
  'user_id as userId',
  'secret_hash as secretHash',
  'user_agent as userAgent',
  'address',
  'created_at_ms as createdAtMs',
  'last_used_at_ms as lastUsedAtMs',
  'expires_at_ms as expiresAtMs',
  'confirmed_at_ms as confirmedAtMs',
] as const;

export function sessionQueries(db: Db): Pick<Queries, 'session' | 'sessionByHash' | 'sessions' | 'knownBrowserByHash'> {
  const sessions = db.selectFrom('sessions').select(columns);
  return {
    session: (id) => sessions.where('id', '=', id).executeTakeFirst(),
    sessionByHash: (secretHash) => sessions.where('secret_hash', '=', secretHash).executeTakeFirst(),
    sessions: (userId, page) => paged(sessions.where('user_id', '=', userId), 'id', page).execute(),
    knownBrowserByHash: (secretHash) =>
      db
        .selectFrom('known_browsers')
        .select(['secret_hash as secretHash', 'user_id as userId', 'created_at_ms as createdAtMs'])
        .where('secret_hash', '=', secretHash)
        .executeTakeFirst(),
  };
}

export function sessionMutations(
  db: Db,
): Pick<
  Mutations,
  | 'insertSession'
  | 'confirmSession'
  | 'deleteSession'
  | 'deleteSessionsOf'
  | 'insertKnownBrowser'
  | 'deleteKnownBrowsersOf'
  | 'keepKnownBrowsers'
> {
  return {
    async insertSession(session) {
      await db
        .insertInto('sessions')
        .values({
          id: session.id,
          user_id: session.userId,
          secret_hash: session.secretHash,
          user_agent: session.userAgent,
          address: session.address,
          created_at_ms: session.createdAtMs,
          last_used_at_ms: session.lastUsedAtMs,
          expires_at_ms: session.expiresAtMs,
          confirmed_at_ms: session.confirmedAtMs,
        })
        .execute();
    },
    async confirmSession(id, confirmedAtMs) {
      await db.updateTable('sessions').set({ confirmed_at_ms: confirmedAtMs }).where('id', '=', id).execute();
    },
    async deleteSession(id) {
      await db.deleteFrom('sessions').where('id', '=', id).execute();
    },
    async deleteSessionsOf(userId, except) {
      let doomed = db.deleteFrom('sessions').where('user_id', '=', userId);
      if (except !== undefined) doomed = doomed.where('id', '!=', except);
      await doomed.execute();
    },
    async insertKnownBrowser({ secretHash, userId, createdAtMs }) {
      await db
        .insertInto('known_browsers')
        .values({ secret_hash: secretHash, user_id: userId, created_at_ms: createdAtMs })
        .execute();
    },
    async deleteKnownBrowsersOf(userId) {
      await db.deleteFrom('known_browsers').where('user_id', '=', userId).execute();
    },
    async keepKnownBrowsers(userId, atMost) {
      const newest = db
        .selectFrom('known_browsers')
        .select('secret_hash')
        .where('user_id', '=', userId)
        .orderBy('created_at_ms', 'desc')
        .orderBy('secret_hash')
        .limit(atMost);
      await db
        .deleteFrom('known_browsers')
        .where('user_id', '=', userId)
        .where('secret_hash', 'not in', newest)
        .execute();
    },
  };
}
