import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import type { Clock, Store, Transaction } from '../../domain/ports.ts';
import { UnavailableError } from '../../domain/ports.ts';
import { checkRows } from '../kysely/check.ts';
import { frozenError, isFrozenSql } from '../kysely/freeze.ts';
import { type LockedTransaction, migrate } from '../kysely/migrate.ts';
import { migrations } from '../kysely/migrations/all.ts';
import { queries, transaction } from '../kysely/queries.ts';
import type { Database } from '../kysely/schema.ts';
import { columnTypes } from './column-types.ts';
import { poolDialect } from './dialect.ts';
import { isOvertaken, translateError } from './errors.ts';
import { openPool } from './pool.ts';
import { channel, type RevisionWatch, watchRevision } from './revision.ts';

export interface PostgresStoreOptions {
  /** `postgresql://user:password@host:port/database`, as https://www.postgresql.org/docs/current/libpq-connect.html has it. */
  readonly url: string;
  /** Tells when a migration was applied. Default: `Date.now`. */
  readonly clock?: Clock;
  /** How long to wait for the database, or while others write, in milliseconds, before `UnavailableError`. Default: 10,000. */
  readonly waitMs?: number;
  /** How many connections are used at once for questions, and as many for changes. Default: 8. */
  readonly connections?: number;
}

/** Names the lock that migrations take, among all of the database's advisory locks. */
const migrationLock = 0x74656e6f6e; // "tenon"

/**
 * Opens the metadata store in a PostgreSQL database, and migrates it. Any number of nodes may have it open.
 *
 * @throws NewerSchemaError for a database that a newer release has migrated, UnavailableError
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, clock = Date.now, waitMs = 10_000, connections = 8 } = options;
  const connection = { url, waitMs };
  const [readers, writers] = [openPool(connection, connections), openPool(connection, connections)];
  const endPools = async (): Promise<void> => {
    await Promise.all([readers.end(), writers.end()]);
  };
  try {
    const writeDb = new Kysely<Database>({ dialect: poolDialect(writers) });
    await migrate(lockedTransaction(writeDb as unknown as Kysely<unknown>), migrations, columnTypes, clock);
    const watch = await watchRevision(connection, () => performance.now());
    const readDb = new Kysely<Database>({ dialect: poolDialect(readers) });
    return createStore({ readDb, writeDb, watch, waitMs, endPools });
  } catch (error) {
    await endPools();
    throw translateError(error);
  }
}

function lockedTransaction(db: Kysely<unknown>): LockedTransaction {
  return (work) =>
    db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx);
      return work(tx);
    });
}

interface Parts {
  readonly readDb: Kysely<Database>;
  readonly writeDb: Kysely<Database>;
  readonly watch: RevisionWatch;
  readonly waitMs: number;
  endPools(): Promise<void>;
}

function createStore({ readDb, writeDb, watch, waitMs, endPools }: Parts): Store {
  const current = new AsyncLocalStorage<{ open: boolean }>();
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  const write = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const scope = { open: true };
    try {
      const result = await current.run(scope, () => runTransaction({ writeDb, watch, waitMs }, work));
      watch.advance();
      return result;
    } catch (error) {
      // Of a connection that was lost while it committed nobody knows whether it did.
      if (error instanceof UnavailableError) watch.advance();
      throw error;
    } finally {
      scope.open = false;
    }
  };
  return {
    read: queries(readDb),
    async write(work) {
      if (current.getStore()?.open)
        throw new Error('Cannot begin a transaction inside another one: it would wait for it');
      if (closing !== undefined) throw new Error('The store is closed');
      const done = write(work);
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
      }
    },
    revision: () => watch.current(),
    isRevisionTrusted: () => watch.isTrusted(),
    check: () => checkRows(readDb),
    async ping() {
      await sql`select 1`.execute(readDb);
    },
    close() {
      closing ??= (async () => {
        await Promise.allSettled(running);
        await watch.close();
        await endPools();
      })();
      return closing;
    },
  };
}

/** Runs the work as if it were alone, again and again while others are faster. */
async function runTransaction<T>(
  { writeDb, watch, waitMs }: Pick<Parts, 'writeDb' | 'watch' | 'waitMs'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + waitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeDb
        .transaction()
        .setIsolationLevel('serializable')
        .execute(async (db) => {
          const result = await work(transaction(db));
          await endTransaction(db, watch.self);
          return result;
        });
    } catch (error) {
      const isOthers = error instanceof UnavailableError && isOvertaken(error.cause);
      if (!isOthers || performance.now() > endsAt) throw error;
      await sleep(Math.random() * Math.min(2 ** attempt, 100));
    }
  }
}

/**
 * Tells the other nodes, and refuses what was changed (a transaction has an id then) when the store takes no changes. That is asked
 * last, where it costs no round trip of its own: what counts is the order in which serialisable transactions can be put, and whoever
 * freezes the store and then reads it waits for those that come before
 * (https://www.postgresql.org/docs/current/sql-set-transaction.html, `deferrable`).
 */
async function endTransaction(db: Kysely<Database>, self: string): Promise<void> {
  const { rows } = await sql<{ frozen: boolean }>`
    select pg_notify(${channel}, ${self}), pg_current_xact_id_if_assigned() is not null and ${isFrozenSql} as frozen
  `.execute(db);
  if (rows[0]?.frozen) throw frozenError();
}
