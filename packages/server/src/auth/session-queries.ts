import type { SessionId, UserId } from '@tenon/protocol';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { paged } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import { columns, type KnownBrowserRecord, type SessionRecord } from '../db/records.ts';

const sessions = (db: Db) => db.selectFrom('sessions').select(columns.sessions);

export const sessionQueries = {
  session: (db: Db, id: SessionId): Promise<SessionRecord | undefined> =>
    sessions(db).where('id', '=', id).executeTakeFirst(),

  sessionByHash: (db: Db, secretHash: string): Promise<SessionRecord | undefined> =>
    sessions(db).where('secretHash', '=', secretHash).executeTakeFirst(),

  /** A user's sessions, the expired ones included. */
  sessions: (db: Db, userId: UserId, page: Page): Promise<SessionRecord[]> =>
    paged(sessions(db).where('userId', '=', userId), 'id', page).execute(),

  knownBrowserByHash: (db: Db, secretHash: string): Promise<KnownBrowserRecord | undefined> =>
    db
      .selectFrom('known_browsers')
      .select(columns.knownBrowsers)
      .where('secretHash', '=', secretHash)
      .executeTakeFirst(),
};

export const sessionMutations = {
  insertSession: statement({ audit: true, invalidates: nothing, freesSpace: true }, (db: Db, session: SessionRecord) =>
    db.insertInto('sessions').values(session),
  ),

  confirmSession: statement(
    { audit: true, invalidates: (id) => [id], freesSpace: true },
    (db: Db, id: SessionId, confirmedAtMs: number) =>
      db.updateTable('sessions').set({ confirmedAtMs }).where('id', '=', id),
  ),

  /** Takes the session's tokens with it. */
  deleteSession: statement({ audit: true, invalidates: (id) => [id], freesSpace: true }, (db: Db, id: SessionId) =>
    db.deleteFrom('sessions').where('id', '=', id),
  ),

  /** Deletes a user's sessions, but not the one that is excepted. */
  deleteSessionsOf: mutation(
    { audit: true, invalidates: (userId) => [userId], freesSpace: true },
    async (db: Db, userId: UserId, except?: SessionId): Promise<void> => {
      let doomed = db.deleteFrom('sessions').where('userId', '=', userId);
      if (except !== undefined) doomed = doomed.where('id', '!=', except);
      await doomed.execute();
    },
  ),

  insertKnownBrowser: statement({ audit: true, invalidates: nothing }, (db: Db, browser: KnownBrowserRecord) =>
    db.insertInto('known_browsers').values(browser),
  ),

  deleteKnownBrowsersOf: statement({ audit: true, invalidates: nothing }, (db: Db, userId: UserId) =>
    db.deleteFrom('known_browsers').where('userId', '=', userId),
  ),

  /** Deletes the oldest of a user's known browsers, so that so many are left at the most. */
  trimKnownBrowsers: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, userId: UserId, atMost: number): Promise<void> => {
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
  ),
};
