import type { PasskeyId, SessionId, UserId } from '@tenon/protocol';
import type { Db } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { paged } from '../db/page-queries.ts';
import type { Page, WithLastAddress } from '../db/query-types.ts';
import { columns, type KnownBrowserRecord, type SessionRecord } from '../db/records.ts';

const sessions = (db: Db) => db.selectFrom('sessions').select(columns.sessions);

export const sessionQueries = {
  session: (db: Db, id: SessionId): Promise<SessionRecord | undefined> =>
    sessions(db).where('id', '=', id).executeTakeFirst(),

  sessionByHash: (db: Db, secretHash: string): Promise<SessionRecord | undefined> =>
    sessions(db).where('secretHash', '=', secretHash).executeTakeFirst(),

  /** A user's sessions, including expired ones. */
  sessions: (db: Db, userId: UserId, page: Page): Promise<(SessionRecord & WithLastAddress)[]> =>
    paged(sessions(db).select('sessions.lastUsedAddress').where('userId', '=', userId), 'id', page).execute(),

  /** Counts a user's sessions that have not expired. */
  async countSessions(db: Db, userId: UserId, nowMs: number): Promise<number> {
    const { count } = await db
      .selectFrom('sessions')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('userId', '=', userId)
      .where('expiresAtMs', '>', nowMs)
      .executeTakeFirstOrThrow();
    return count;
  },

  knownBrowserByHash: (db: Db, secretHash: string): Promise<KnownBrowserRecord | undefined> =>
    db
      .selectFrom('known_browsers')
      .select(columns.knownBrowsers)
      .where('secretHash', '=', secretHash)
      .executeTakeFirst(),
};

export const sessionMutations = {
  insertSession: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, session: SessionRecord) => db.insertInto('sessions').values(session),
  ),

  /** @param passkeyId the passkey that confirmed it; omitted for the password */
  confirmSession: statement(
    { audit: true, invalidates: (id) => [id], usesDiskReserve: true },
    (db: Db, id: SessionId, confirmedAtMs: number, passkeyId?: PasskeyId) =>
      db
        .updateTable('sessions')
        .set({ confirmedAtMs, ...(passkeyId !== undefined && { passkeyId }) })
        .where('id', '=', id),
  ),

  /** Also deletes the session's tokens, by the foreign key. */
  deleteSession: statement({ audit: true, invalidates: (id) => [id], usesDiskReserve: true }, (db: Db, id: SessionId) =>
    db.deleteFrom('sessions').where('id', '=', id),
  ),

  /** Deletes a user's sessions, except one. */
  deleteSessionsOf: mutation(
    { audit: true, invalidates: (userId) => [userId], usesDiskReserve: true },
    async (db: Db, userId: UserId, except?: SessionId): Promise<void> => {
      let deletion = db.deleteFrom('sessions').where('userId', '=', userId);
      if (except !== undefined) deletion = deletion.where('id', '!=', except);
      await deletion.execute();
    },
  ),

  insertKnownBrowser: statement({ audit: true, invalidates: nothing }, (db: Db, browser: KnownBrowserRecord) =>
    db.insertInto('known_browsers').values(browser),
  ),

  deleteKnownBrowsersOf: statement({ audit: true, invalidates: nothing }, (db: Db, userId: UserId) =>
    db.deleteFrom('known_browsers').where('userId', '=', userId),
  ),

  /** Deletes a user's oldest known browsers, so that at most `max` remain. */
  trimKnownBrowsers: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, userId: UserId, max: number): Promise<void> => {
      const newest = db
        .selectFrom('known_browsers')
        .select('secretHash')
        .where('userId', '=', userId)
        .orderBy('createdAtMs', 'desc')
        .orderBy('secretHash')
        .limit(max);
      await db
        .deleteFrom('known_browsers')
        .where('userId', '=', userId)
        .where('secretHash', 'not in', newest)
        .execute();
    },
  ),
};
