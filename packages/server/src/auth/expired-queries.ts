import type { Db } from '../db/db.ts';
import { mutation, nothing } from '../db/mutation.ts';

export const expiredMutations = {
  /**
   * Deletes rows that expired before a time: sessions with their tokens, tokens of open sessions and of trusted publishing, used identity tokens, links, authorization codes, device
   * grants, settled mails, and the reservations of deleted plugins. Tokens of programs stay, because their owners see them in the list as expired.
   */
  deleteExpired: mutation(
    // Expired rows are rejected already, so that no cache depends on them.
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, beforeMs: number): Promise<void> => {
      await db.deleteFrom('mails').where('state', 'in', ['sent', 'failed']).where('dueAtMs', '<', beforeMs).execute();
      // A session can have many expired tokens, because its pages fetch a new one each hour.
      await db.deleteFrom('tokens').where('sessionId', 'is not', null).where('expiresAtMs', '<', beforeMs).execute();
      // Each run of a CI job has its own token.
      await db.deleteFrom('tokens').where('trustRuleId', 'is not', null).where('expiresAtMs', '<', beforeMs).execute();
      for (const table of [
        'used_id_tokens',
        'sessions',
        'one_time_links',
        'mailed_codes',
        'authorization_codes',
        'device_grants',
        'pending_sign_ins',
        'passkey_challenges',
        'provider_sign_ins',
        'logout_tokens',
      ] as const) {
        await db.deleteFrom(table).where('expiresAtMs', '<', beforeMs).execute();
      }
      for (const table of ['name_reservations', 'reserved_semvers'] as const) {
        await db.deleteFrom(table).where('untilMs', '<', beforeMs).execute();
      }
    },
  ),
};
