import type { Deps } from '../deps.ts';

/** How many news are deleted in one transaction, so that nobody waits long for it. */
const trimBatch = 1000;

/**
 * Deletes news that is older than it is to be kept.
 *
 * @returns how many
 */
export async function purgeChanges(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  retentionMs: number,
): Promise<number> {
  const beforeMs = clock() - retentionMs;
  for (let deleted = 0; ; ) {
    const count = await store.write((tx) => tx.deleteChangesBefore(beforeMs, trimBatch));
    deleted += count;
    if (count < trimBatch) return deleted;
  }
}
