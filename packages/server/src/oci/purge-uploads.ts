import type { Deps } from '../deps.ts';

/** How many uploads one transaction deletes, with their chunks. It is limited because other writers wait for the transaction. */
const batchSize = 100;

/** Deletes expired uploads. The garbage collector deletes their bytes. */
export async function purgeOciUploads({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<void> {
  while ((await store.write((tx) => tx.deleteExpiredOciUploads(clock(), batchSize))) === batchSize);
}
