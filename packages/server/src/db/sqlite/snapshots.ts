import { Kysely } from 'kysely';
import type { Statements } from '../../queries.ts';
import { createFairSemaphore } from '../fair-semaphore.ts';
import type { Database } from '../records.ts';
import { maxSnapshots, type Store } from '../store.ts';
import { readingDialect } from './dialect.ts';
import { retryWhileBusy } from './errors.ts';
import { openReader } from './files.ts';

/** Each snapshot has a connection of its own: the store's connection for reads must see new commits. */
export function createSnapshots(statements: Statements, file: string, waitMs: number): Store['readSnapshot'] {
  const permits = createFairSemaphore(maxSnapshots);
  return async (work) => {
    await permits.acquire(waitMs);
    try {
      const database = await retryWhileBusy(() => openReader(file), waitMs);
      try {
        database.exec('begin');
        return await work(statements.queries(new Kysely<Database>({ dialect: readingDialect({ database, waitMs }) })));
      } finally {
        database.close();
      }
    } finally {
      permits.release();
    }
  };
}
