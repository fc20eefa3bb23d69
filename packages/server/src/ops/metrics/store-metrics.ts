import type { AuditAction } from '@tenon/protocol';
import { ConflictError, DryRunComplete, StorageFullError, UnavailableError } from '../../db/store-errors.ts';
import { DomainError } from '../../http/domain-errors.ts';
import type { Registry } from './registry.ts';

const outcomes = ['committed', 'dry_run', 'refused', 'conflict', 'unavailable', 'full', 'failed'] as const;

export type StoreMetrics = ReturnType<typeof createStoreMetrics>;

/** Counts and times transactions, and counts their audit events. */
export function createStoreMetrics(registry: Registry) {
  for (const outcome of outcomes) registry.counter('tenon_store_transactions_total', { outcome });
  registry.counter('tenon_changes_total', { action: 'plugin.publish' satisfies AuditAction });
  const durations = registry.histogram('tenon_store_transaction_duration_seconds', {});
  const retries = registry.counter('tenon_store_transaction_retries_total', {});
  return {
    /** Measures one transaction. */
    begin() {
      const startedAt = performance.now();
      let attempts = 0;
      const end = (outcome: (typeof outcomes)[number]): void => {
        durations.observe((performance.now() - startedAt) / 1000);
        registry.counter('tenon_store_transactions_total', { outcome }).value++;
      };
      return {
        /** Call for each attempt: a conflict with another transaction causes a retry. */
        attempt(): void {
          if (attempts++ > 0) retries.value++;
        },
        /** @param recorded the actions of its audit events */
        committed(recorded: readonly AuditAction[]): void {
          end('committed');
          for (const action of recorded) registry.counter('tenon_changes_total', { action }).value++;
        },
        failed: (error: unknown): void => end(outcomeOf(error)),
      };
    },
  };
}

function outcomeOf(error: unknown): (typeof outcomes)[number] {
  if (error instanceof DomainError) return 'refused';
  if (error instanceof DryRunComplete) return 'dry_run';
  if (error instanceof ConflictError) return 'conflict';
  if (error instanceof UnavailableError) return 'unavailable';
  return error instanceof StorageFullError ? 'full' : 'failed';
}
