import type { Mutations } from '../../domain/ports.ts';
import type { Db } from './db.ts';

export function endedMutations(db: Db): Pick<Mutations, 'deleteEnded'> {
  return {
    async deleteEnded(beforeMs) {
      // A session's pages fetch a token now and then: those that have expired needn't wait for the session's end.
      await db.deleteFrom('tokens').where('sessionId', 'is not', null).where('expiresAtMs', '<', beforeMs).execute();
      for (const table of ['sessions', 'one_time_links', 'authorization_codes', 'device_grants'] as const) {
        await db.deleteFrom(table).where('expiresAtMs', '<', beforeMs).execute();
      }
      for (const table of ['name_reservations', 'retired_labels'] as const) {
        await db.deleteFrom(table).where('untilMs', '<', beforeMs).execute();
      }
    },
  };
}
