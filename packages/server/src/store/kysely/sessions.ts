import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { paged } from './paging.ts';

export function sessionQueries(db: Db): Pick<Queries, 'session' | 'sessionByHash' | 'sessions' | 'knownBrowserByHash'> {
  const sessions = db.selectFrom('sessions').select(columns.sessions);
  return {
    session: (id) => sessions.where('id', '=', id).executeTakeFirst(),
    sessionByHash: (secretHash) => sessions.where('secretHash', '=', secretHash).executeTakeFirst(),
    sessions: (userId, page) => paged(sessions.where('userId', '=', userId), 'id', page).execute(),
    knownBrowserByHash: (secretHash) =>
      db
        .selectFrom('known_browsers')
        .select(columns.knownBrowsers)
        .where('secretHash', '=', secretHash)
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
      await db.insertInto('sessions').values(session).execute();
    },
    async confirmSession(id, confirmedAtMs) {
      await db.updateTable('sessions').set({ confirmedAtMs }).where('id', '=', id).execute();
    },
    async deleteSession(id) {
      await db.deleteFrom('sessions').where('id', '=', id).execute();
    },
    async deleteSessionsOf(userId, except) {
      let doomed = db.deleteFrom('sessions').where('userId', '=', userId);
      if (except !== undefined) doomed = doomed.where('id', '!=', except);
      await doomed.execute();
    },
    async insertKnownBrowser(browser) {
      await db.insertInto('known_browsers').values(browser).execute();
    },
    async deleteKnownBrowsersOf(userId) {
      await db.deleteFrom('known_browsers').where('userId', '=', userId).execute();
    },
    async keepKnownBrowsers(userId, atMost) {
      const newest = db
        .selectFrom('known_browsers')
        .select('secretHash')
        .where('userId', '=', userId)
        .orderBy('createdAtMs', 'desc')
        .orderBy('secretHash')
        .limit(atMost);
      await db
        .deleteFrom('known_browsers')
        .where('userId', '=', userId)
        .where('secretHash', 'not in', newest)
        .execute();
    },
  };
}
