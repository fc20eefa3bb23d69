import type { Context } from '../context.ts';
import type { Transaction } from '../ports.ts';
import { finishRebind } from '../rebind.ts';
import type { DeletionScope } from './ports.ts';

/** How many rows of a table one transaction deletes: other writers wait for it. */
export const deleteBatchSize = 1000;

/** How much pending work is looked up at once. */
const pendingBatchSize = 100;

/**
 * Finishes what changes of very many rows have left for further transactions: bindings that are to follow, and rows of what was
 * deleted. A process that ended in the middle of one leaves it to this; any number of processes may do it at once.
 *
 * @param signal aborts between two transactions
 */
export async function finishPendingChanges(
  context: Pick<Context, 'store' | 'clock'>,
  signal?: AbortSignal,
): Promise<{ readonly plugins: number; readonly deletions: number }> {
  const { store } = context;
  const plugins = await store.read.pendingPlugins(pendingBatchSize);
  for (const key of plugins) {
    if (signal?.aborted) break;
    await finishRebind(context, key, signal);
  }
  const deletions = await store.read.pendingDeletions(pendingBatchSize);
  for (const scope of deletions) {
    while (!signal?.aborted && !(await store.write((tx) => purgeBatch(tx, scope))));
  }
  return { plugins: plugins.length, deletions: deletions.length };
}

/** @returns whether all is gone */
async function purgeBatch(tx: Transaction, scope: DeletionScope): Promise<boolean> {
  if (!(await tx.purgeRows(scope, deleteBatchSize))) return false;
  await tx.forgetDeleted(scope);
  return true;
}
