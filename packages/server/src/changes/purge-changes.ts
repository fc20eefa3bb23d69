import type { Deps } from '../deps.ts';

/** How many change events one transaction deletes. It is small, so that other writers don't wait long. */
const batchSize = 1000;

/**
 * Deletes change events that are older than the retention time.
 *
 * @returns the number of deleted events
 */
export async function purgeChanges(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  retentionMs: number,
): Promise<number> {
  const beforeMs = clock() - retentionMs;
  for (let deleted = 0; ; ) {
    const count = await store.write((tx) => tx.deleteChangesBefore(beforeMs, batchSize));
    deleted += count;
    if (count < batchSize) return deleted;
  }
}
