import { callReportRetentionDays } from '@tenon/protocol';
import type { Deps } from '../deps.ts';

const retentionMs = callReportRetentionDays * 24 * 60 * 60_000;

/** How many rows one transaction deletes. It is limited because other writers wait for the transaction. */
const batchSize = 1000;

/** Deletes the reports of roll-outs that ended long ago. */
export async function purgeCallReports({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<void> {
  const endedBeforeMs = clock() - retentionMs;
  while ((await store.write((tx) => tx.deleteCallReports(endedBeforeMs, batchSize))) === batchSize);
}
