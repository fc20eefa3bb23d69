import { type DeletionScope, deleteBatchSize } from '../db/deletion-scope.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { finishRebind } from '../plugins/rebind.ts';

/** How many pending changes one query reads. */
const pendingBatchSize = 100;

/**
 * Finishes changes of very many rows, which take several transactions: it recomputes the bindings of plugins, and deletes the rows of
 * deleted entities. It also finishes changes of a process that ended too early. Several processes may do this at the same time.
 *
 * @param signal aborts between two transactions
 */
export async function finishPendingChanges(
  deps: Pick<Deps, 'store' | 'clock'>,
  signal?: AbortSignal,
): Promise<{ readonly plugins: number; readonly deletions: number }> {
  const { store } = deps;
  const plugins = await store.read.pendingPlugins(pendingBatchSize);
  for (const key of plugins) {
    if (signal?.aborted) break;
    await finishRebind(deps, key, signal);
  }
  const deletions = await store.read.pendingDeletions(pendingBatchSize);
  for (const scope of deletions) {
    while (!signal?.aborted && !(await store.write((tx) => purgeBatch(tx, scope))));
  }
  return { plugins: plugins.length, deletions: deletions.length };
}

/** @returns whether all rows are deleted */
async function purgeBatch(tx: Transaction, scope: DeletionScope): Promise<boolean> {
  if (!(await tx.purgeRows(scope, deleteBatchSize))) return false;
  await tx.purgeDeleted(scope);
  return true;
}
