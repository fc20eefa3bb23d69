import type { Deps } from '../deps.ts';
import { dayMs } from './read-usage.ts';

/** How many days one transaction deletes. It is small, so that other writers don't wait long. */
const batchSize = 1000;

/** How long a process that writes nothing can still repeat a batch. */
const writerLifetimeMs = dayMs;

/** Deletes usage that is older than the retention time. */
export async function purgeUsage({ store, clock }: Pick<Deps, 'store' | 'clock'>, retentionMs: number): Promise<void> {
  const nowMs = clock();
  while ((await store.write((tx) => tx.deleteUsageBefore(nowMs - retentionMs - dayMs, batchSize))) === batchSize);
  await store.write((tx) => tx.deleteUsageWriters(nowMs - writerLifetimeMs));
}
