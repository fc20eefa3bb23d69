import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { CacheTag } from '../../cache/cache-tag.ts';
import type { Statements } from '../../queries.ts';
import { createFairSemaphore } from '../fair-semaphore.ts';
import type { Database } from '../records.ts';
import { type Transaction, UnavailableError } from '../store.ts';
import { isSerializationFailure } from './errors.ts';
import { writeNotes } from './notes.ts';
import { channel, type RevisionWatch } from './revision.ts';

type Isolation = 'serializable' | 'read committed';

type Work<T> = (tx: Transaction) => Promise<T>;

interface Committed<T> {
  readonly result: T;
  readonly invalidated: readonly CacheTag[];
}

/** The longest pause between two attempts of a transaction, in milliseconds. */
const maxPauseMs = 50;

/**
 * Runs transactions.
 *
 * @param connections how many transactions run at once. The others wait in a fair queue, which the connection pool doesn't have
 */
export function createWriter(
  statements: Statements,
  db: Kysely<Database>,
  watch: RevisionWatch,
  waitMs: number,
  connections: number,
) {
  const current = new AsyncLocalStorage<{ open: boolean }>();
  const running = new Set<Promise<unknown>>();
  const permits = createFairSemaphore(connections);
  /** Serialises retries: the more transactions of this process retry at once, the more often they conflict. */
  const retries = createFairSemaphore();
  let isClosed = false;

  const runOnce = <T>(name: string, isolation: Isolation, work: Work<T>): Promise<Committed<T>> =>
    db
      .transaction()
      .setIsolationLevel(isolation)
      .execute(async (trx) => {
        const tx = statements.transaction(trx);
        const result = await work(tx);
        const invalidated = [...tx.effects.invalidated];
        const notes = JSON.stringify(writeNotes(name, invalidated));
        await sql`select pg_notify(${channel}, note) from json_array_elements_text(${notes}) as note`.execute(trx);
        return { result, invalidated };
      });

  /** Retries serialization failures until the transaction commits or the time is over. */
  const runWithRetries = async <T>(name: string, isolation: Isolation, work: Work<T>): Promise<Committed<T>> => {
    const endsAt = performance.now() + waitMs;
    const remainingMs = () => Math.max(0, endsAt - performance.now());
    const attempt = async () => {
      await permits.acquire(remainingMs());
      try {
        return await runOnce(name, isolation, work);
      } finally {
        permits.release();
      }
    };
    const first = await unlessConflict(attempt);
    if (first !== undefined) return first;
    await retries.acquire(remainingMs());
    try {
      for (let pauseMs = 1; performance.now() < endsAt; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
        const committed = await unlessConflict(attempt);
        if (committed !== undefined) return committed;
        await sleep(Math.random() * pauseMs);
      }
      return await attempt();
    } finally {
      retries.release();
    }
  };

  const runAndNotify = async <T>(isolation: Isolation, work: Work<T>): Promise<T> => {
    const scope = { open: true };
    const own = watch.begin();
    try {
      const { result, invalidated } = await current.run(scope, () => runWithRetries(own.name, isolation, work));
      own.committed(invalidated);
      return result;
    } catch (error) {
      // If the connection was lost during the commit, the transaction may be committed now or later.
      if (error instanceof UnavailableError) own.lost();
      else own.failed();
      throw error;
    } finally {
      scope.open = false;
    }
  };

  return {
    async write<T>(isolation: Isolation, work: Work<T>): Promise<T> {
      if (current.getStore()?.open) throw new Error('Cannot begin a transaction inside another transaction');
      if (isClosed) throw new Error('The store is closed');
      const result = runAndNotify(isolation, work);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    async ping(): Promise<void> {
      const setting = sql<{ value: string }>`select current_setting('transaction_read_only') as value`;
      const { rows } = await setting.execute(db);
      if (rows[0]?.value === 'on') throw new UnavailableError('Cannot write to PostgreSQL: it is read-only');
    },
    /** Rejects new transactions, and waits for the running ones. */
    async close(): Promise<void> {
      isClosed = true;
      await Promise.allSettled(running);
    },
  };
}

/** @returns `undefined` after a serialization failure */
async function unlessConflict<T>(attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof UnavailableError && isSerializationFailure(error.cause)) return undefined;
    throw error;
  }
}
