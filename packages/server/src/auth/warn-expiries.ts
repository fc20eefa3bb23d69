import type { Deps } from '../deps.ts';
import { queueNotice } from '../mail/notices.ts';

/** How many credentials one transaction marks. */
const batchSize = 200;

/** The maximum number of credentials that one mail names. */
const maxNamed = 20;

/**
 * Mails the users of tokens and API keys that expire soon, once for each credential. The transaction that queues the mail marks the
 * credential, so that no other node queues another one.
 */
export async function warnExpiries(deps: Pick<Deps, 'store' | 'clock' | 'settings'>): Promise<void> {
  if (deps.settings.smtp === undefined) return;
  for (;;) {
    const count = await deps.store.write(async (tx) => {
      const nowMs = deps.clock();
      const expiring = await tx.expiringCredentials(nowMs, batchSize);
      if (expiring.length === 0) return 0;
      for (const [userId, credentials] of Map.groupBy(expiring, (one) => one.userId)) {
        for (let start = 0; start < credentials.length; start += maxNamed) {
          const named = credentials.slice(start, start + maxNamed);
          await queueNotice(deps, tx, userId, 'expiries', { facts: { ids: named.map(({ id }) => id).join(' ') } });
        }
      }
      const ids = expiring.map(({ id }) => id);
      await tx.markExpiryWarned(ids, nowMs);
      return expiring.length;
    });
    if (count < batchSize) return;
  }
}
