import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import type { CacheTag } from '../../cache/cache-tag.ts';
import type { Statements } from '../../queries.ts';
import { checkRows } from '../check-queries.ts';
import { type LockedTransaction, migrate } from '../migrate.ts';
import { migrations } from '../migrations/all.ts';
import type { Database } from '../records.ts';
import type { Clock, Store, Transaction } from '../store.ts';
import { RefusedError, UnavailableError } from '../store.ts';
import { columnTypes, poolDialect } from './dialect.ts';
import { isOvertaken, translateError } from './errors.ts';
import { createFairSemaphore, type FairSemaphore } from './fair-semaphore.ts';
import { writeNotes } from './notes.ts';
import { type ConnectionOptions, createSockets, openPool, silentMs } from './pool.ts';
import { channel, type RevisionWatch, watchRevision } from './revision.ts';
import { requireSessions } from './sessions.ts';

interface PostgresStoreOptions {
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
 * @throws NewerSchemaError for a database that a newer release has migrated, RefusedError, UnavailableError
 */
export async function openPostgresStore(statements: Statements, options: PostgresStoreOptions): Promise<Store> {
  const { url, clock = Date.now, waitMs = 10_000, connections = 8 } = options;
  const connection = { url, waitMs, sockets: createSockets() };
  const [readers, writers] = [openPool(connection, connections), openPool(connection, connections)];
  const endPools = async (): Promise<void> => {
    connection.sockets.hurry();
    await Promise.all([readers.end(), writers.end()]);
  };
  try {
    await requireSessions({ ...connection, connectMs: Math.min(waitMs, silentMs) });
    await migrateDatabase(connection, clock);
    const watch = await watchRevision(connection);
    const readDb = new Kysely<Database>({ dialect: poolDialect(readers) });
    const writeDb = new Kysely<Database>({ dialect: poolDialect(writers) });
    return createStore({
      statements,
      readDb,
      writeDb,
      watch,
      waitMs,
      writing: createFairSemaphore(connections),
      overtaken: createFairSemaphore(),
      endPools,
    });
  } catch (error) {
    await endPools();
    throw translateError(error);
  }
}

/** Over a connection of its own, which is not waited for as long as those that requests need: who starts tries again. */
async function migrateDatabase(connection: ConnectionOptions, clock: Clock): Promise<void> {
  const pool = openPool({ ...connection, connectMs: Math.min(connection.waitMs, silentMs) }, 1);
  try {
    const db = new Kysely<unknown>({ dialect: poolDialect(pool) });
    await assertUtf8(db);
    await migrate(lockedTransaction(db), migrations, columnTypes, clock);
  } finally {
    await pool.end();
  }
}

/** In another encoding a text would be kept until somebody writes a letter that it has not. @throws RefusedError */
async function assertUtf8(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(db);
  const found = rows[0]?.server_encoding;
  if (found !== 'UTF8') throw new RefusedError(`Cannot use the database: its encoding is ${found}, and must be UTF8`);
}

function lockedTransaction(db: Kysely<unknown>): LockedTransaction {
  return (work) =>
    db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx);
      return work(tx);
    });
}

interface StoreParts {
  readonly statements: Statements;
  readonly readDb: Kysely<Database>;
  readonly writeDb: Kysely<Database>;
  readonly watch: RevisionWatch;
  readonly waitMs: number;
  /** As many places as there are connections to write: what waits for one takes turns, which the pool's own queue does not. */
  readonly writing: FairSemaphore;
  /** Serialises the retries of works that were overtaken. */
  readonly overtaken: FairSemaphore;
  endPools(): Promise<void>;
}

function createStore({ readDb, endPools, ...parts }: StoreParts): Store {
  const { watch } = parts;
  const current = new AsyncLocalStorage<{ open: boolean }>();
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  const run = async <T>(isolation: Isolation, work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const scope = { open: true };
    const own = watch.begin();
    try {
      const { result, invalidated } = await current.run(scope, () =>
        runTransaction({ ...parts, by: own.name, isolation }, work),
      );
      own.committed(invalidated);
      return result;
    } catch (error) {
      // Of a connection that was lost while it committed nobody knows whether it did, or will.
      if (error instanceof UnavailableError) own.lost();
      else own.failed();
      throw error;
    } finally {
      scope.open = false;
    }
  };
  const write = async <T>(isolation: Isolation, work: (tx: Transaction) => Promise<T>): Promise<T> => {
    if (current.getStore()?.open)
      throw new Error('Cannot begin a transaction inside another one: it would wait for it');
    if (closing !== undefined) throw new Error('The store is closed');
    const done = run(isolation, work);
    running.add(done);
    try {
      return await done;
    } finally {
      running.delete(done);
    }
  };
  return {
    read: parts.statements.queries(readDb),
    write: (work) => write('serializable', work),
    writeLocking: (work) => write('read committed', work),
    revision: () => watch.current(),
    onCommitted: (listener) => watch.onCommitted(listener),
    isRevisionTrusted: () => watch.isTrusted(),
    check: () => checkRows(readDb),
    async ping() {
      const fault = watch.fault();
      if (fault !== undefined) throw fault;
      await sql`select 1`.execute(readDb);
    },
    async pingWrite() {
      const setting = sql<{ value: string }>`select current_setting('transaction_read_only') as value`;
      const { rows } = await setting.execute(parts.writeDb);
      if (rows[0]?.value === 'on') throw new UnavailableError('PostgreSQL takes no changes: it is read-only');
    },
    close() {
      closing ??= (async () => {
        await Promise.allSettled(running);
        await Promise.all([watch.close(), endPools()]);
      })();
      return closing;
    },
  };
}

type Isolation = 'serializable' | 'read committed';

/** How a transaction is run. */
interface Run extends Omit<StoreParts, 'readDb' | 'watch' | 'endPools'> {
  /** Names the transaction in what other nodes hear of it. */
  readonly by: string;
  readonly isolation: Isolation;
}

interface Done<T> {
  readonly result: T;
  readonly invalidated: readonly CacheTag[];
}

/**
 * Runs the work as if it were alone, again and again while others are faster. Works of this store that were overtaken take turns: the
 * more of them ran at once, the more often they would overtake one another.
 */
async function runTransaction<T>(
  { waitMs, writing, overtaken, ...how }: Run,
  work: (tx: Transaction) => Promise<T>,
): Promise<Done<T>> {
  const endsAt = performance.now() + waitMs;
  const run = async () => {
    await writing.acquire(Math.max(0, endsAt - performance.now()));
    try {
      return await runOnce(how, work);
    } finally {
      writing.release();
    }
  };
  const first = await unlessOvertaken(run);
  if (first !== undefined) return first;
  await overtaken.acquire(Math.max(0, endsAt - performance.now()));
  try {
    for (let pauseMs = 1; performance.now() < endsAt; pauseMs = Math.min(pauseMs * 2, 50)) {
      const done = await unlessOvertaken(run);
      if (done !== undefined) return done;
      await sleep(Math.random() * pauseMs); // those that overtake it now are on other nodes, or here for the first time
    }
    return await run();
  } finally {
    overtaken.release();
  }
}

/** What came of it; `undefined` when another transaction was faster. */
async function unlessOvertaken<T>(run: () => Promise<Done<T>>): Promise<Done<T> | undefined> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UnavailableError && isOvertaken(error.cause)) return undefined;
    throw error;
  }
}

async function runOnce<T>(
  { statements, writeDb, by, isolation }: Pick<Run, 'statements' | 'writeDb' | 'by' | 'isolation'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<Done<T>> {
  return writeDb
    .transaction()
    .setIsolationLevel(isolation)
    .execute(async (db) => {
      const tx = statements.transaction(db);
      const result = await work(tx);
      const invalidated = [...tx.effects.invalidated];
      const notes = JSON.stringify(writeNotes(by, invalidated));
      await sql`select pg_notify(${channel}, note) from json_array_elements_text(${notes}) as note`.execute(db);
      return { result, invalidated };
    });
}
