import type { AppId, AuditAction } from '@tenon/protocol';
import { type ChangeFeedOptions, emitChanges } from './changes/emit-changes.ts';
import { DryRunComplete, type Store, type Transaction } from './db/store.ts';
import type { StoreMetrics } from './ops/metrics/store-metrics.ts';
import type { StoreSpans } from './ops/tracing/store-spans.ts';
import { callAround } from './queries.ts';

interface EffectOptions {
  /** Emits change events for binding lists. Default: none. */
  readonly changes?: ChangeFeedOptions | undefined;
  /** Whether a change without an audit event fails. Default: true. */
  readonly requiresAudit?: boolean;
  readonly metrics?: StoreMetrics | undefined;
  readonly spans?: StoreSpans | undefined;
}

/**
 * Wraps a store with the effects that mutations declare. A transaction writes change events for the binding lists that it changes, fails
 * without an audit event, and is measured and traced. The store itself applies the cache tags.
 */
export function withEffects(store: Store, options: EffectOptions): Store {
  const { changes, requiresAudit = true, metrics, spans } = options;
  const write = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const measured = metrics?.begin();
    let appIds: readonly AppId[] = [];
    let recorded: readonly AuditAction[] = [];
    const attempt = async (tx: Transaction): Promise<T> => {
      measured?.attempt();
      const bound = spans === undefined ? tx : callAround(tx, spans.mutation);
      const result = await work(bound);
      appIds = changes === undefined ? [] : await emitChanges(bound, changes);
      if (requiresAudit) tx.effects.requireAuditEvent();
      recorded = tx.effects.recorded;
      return result;
    };
    // A dry run is no failure for the spans.
    const commit = (attempted: typeof attempt) => store.write(attempted).catch(returnDryRun);
    const run = () =>
      spans === undefined ? commit(attempt) : spans.transaction((within) => commit((tx) => within(() => attempt(tx))));
    try {
      const result = await run();
      if (result instanceof DryRunComplete) throw result;
      measured?.committed(recorded);
      if (appIds.length > 0) changes?.onEmitted?.(appIds);
      return result;
    } catch (error) {
      measured?.failed(error);
      throw error;
    }
  };
  if (spans === undefined) return { ...store, write };
  const readSnapshot: Store['readSnapshot'] = (work) =>
    store.readSnapshot((read) => work(callAround(read, spans.query)));
  return { ...store, write, read: callAround(store.read, spans.query), readSnapshot };
}

function returnDryRun(error: unknown): DryRunComplete {
  if (error instanceof DryRunComplete) return error;
  throw error;
}
