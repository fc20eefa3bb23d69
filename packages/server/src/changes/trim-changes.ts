import type { Context } from '../deps.ts';

/** How many news are deleted in one transaction, so that nobody waits long for it. */
const trimBatch = 1000;

/**
 * Deletes news that is older than it is to be kept.
 *
 * @returns how many
 */
export async function trimNews(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  retentionMs: number,
): Promise<number> {
  const beforeMs = clock() - retentionMs;
  for (let deleted = 0; ; ) {
    const count = await store.write((tx) => tx.deleteNewsBefore(beforeMs, trimBatch));
    deleted += count;
    if (count < trimBatch) return deleted;
  }
}
