import type { Db } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';

export const endedMutations = {
  /**
   * Deletes what ended before a time and serves nothing any more: sessions with their tokens, tokens of sessions that go on,
   * links, authorization codes, device requests, and what is reserved of deleted plugins. Access tokens of programs stay: their owners see in the list that they have expired.
   */
  deleteEnded: mutation(
    {
      // What it deletes had ended a week before.
      audit: false,
      // What it deletes is refused for its time already.
      invalidates: nothing,
      freesSpace: true,
    },
    async (db: Db, beforeMs: number): Promise<void> => {
      // A session's pages fetch a token now and then: those that have expired needn't wait for the session's end.
      await db.deleteFrom('tokens').where('sessionId', 'is not', null).where('expiresAtMs', '<', beforeMs).execute();
      for (const table of ['sessions', 'one_time_links', 'authorization_codes', 'device_grants'] as const) {
        await db.deleteFrom(table).where('expiresAtMs', '<', beforeMs).execute();
      }
      for (const table of ['name_reservations', 'retired_labels'] as const) {
        await db.deleteFrom(table).where('untilMs', '<', beforeMs).execute();
      }
    },
  ),
};
