import type { AuditAction } from '@tenon/protocol';
import { DomainError } from '../domain/errors.ts';
import { ConflictError, StorageFullError, type Store, type Transaction, UnavailableError } from '../domain/ports.ts';
import type { Registry } from './registry.ts';

const outcomes = ['committed', 'refused', 'conflict', 'unavailable', 'full', 'failed'] as const;

/** The store, with its transactions counted, and what they committed. */
export function countStore(store: Store, registry: Registry): Store {
  for (const outcome of outcomes) registry.counter('tenon_store_transactions_total', { outcome });
  registry.counter('tenon_changes_total', { action: 'plugin.publish' satisfies AuditAction });
  const durations = registry.histogram('tenon_store_transaction_duration_seconds', {});
  const retries = registry.counter('tenon_store_transaction_retries_total', {});
  const ended = (outcome: (typeof outcomes)[number], startedAt: number): void => {
    durations.observe((performance.now() - startedAt) / 1000);
    registry.counter('tenon_store_transactions_total', { outcome }).value++;
  };
  return {
    ...store,
    async write(work) {
      const startedAt = performance.now();
      let attempts = 0;
      let actions: AuditAction[] = [];
      try {
        const result = await store.write((tx) => {
          if (attempts++ > 0) retries.value++;
          actions = []; // of a run that came to nothing nothing is kept
          return work(noting(tx, actions));
        });
        ended('committed', startedAt);
        for (const action of actions) registry.counter('tenon_changes_total', { action }).value++;
        return result;
      } catch (error) {
        ended(outcomeOf(error), startedAt);
        throw error;
      }
    },
  };
}

function noting(tx: Transaction, actions: AuditAction[]): Transaction {
  return {
    ...tx,
    insertAuditEvent(event) {
      actions.push(event.action);
      return tx.insertAuditEvent(event);
    },
  };
}

function outcomeOf(error: unknown): (typeof outcomes)[number] {
  if (error instanceof DomainError) return 'refused';
  if (error instanceof ConflictError) return 'conflict';
  if (error instanceof UnavailableError) return 'unavailable';
  return error instanceof StorageFullError ? 'full' : 'failed';
}
