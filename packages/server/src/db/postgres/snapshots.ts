import type { Kysely } from 'kysely';
import type { Statements } from '../../queries.ts';
import { createFairSemaphore } from '../fair-semaphore.ts';
import type { Database } from '../records.ts';
import { maxSnapshots, type Store } from '../store.ts';

export function createSnapshots(statements: Statements, db: Kysely<Database>, waitMs: number): Store['readSnapshot'] {
  const permits = createFairSemaphore(maxSnapshots);
  return async (work) => {
    await permits.acquire(waitMs);
    try {
      const transaction = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
      return await transaction.execute((tx) => work(statements.queries(tx)));
    } finally {
      permits.release();
    }
  };
}
