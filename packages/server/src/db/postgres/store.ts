import { Kysely, sql } from 'kysely';
import type { Statements } from '../../queries.ts';
import { checkRows } from '../check-queries.ts';
import { type LockedTransaction, migrate } from '../migrate.ts';
import { migrations } from '../migrations/all.ts';
import type { Database } from '../records.ts';
import { type Clock, RefusedError, type Store } from '../store.ts';
import { columnTypes, poolDialect } from './dialect.ts';
import { translateError } from './errors.ts';
import { type ConnectionOptions, createSockets, openPool, silentMs } from './pool.ts';
import { watchRevision } from './revision.ts';
import { requireSessions } from './sessions.ts';
import { createSnapshots } from './snapshots.ts';
import { createWriter } from './writer.ts';

interface PostgresStoreOptions {
  /** `postgresql://user:password@host:port/database`; see https://www.postgresql.org/docs/current/libpq-connect.html. */
  readonly url: string;
  /** For the times of migrations. Default: `Date.now`. */
  readonly clock?: Clock;
  /** How long to wait for the database, and for other transactions, before an `UnavailableError`, in milliseconds. Default: 10,000. */
  readonly waitMs?: number;
  /** The maximum number of connections for queries, and as many again for transactions. Default: 8. */
  readonly connections?: number;
}

/** The key of the advisory lock for migrations. */
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
    connection.sockets.closeSilent();
    await Promise.all([readers.end(), writers.end()]);
  };
  try {
    await requireSessions({ ...connection, connectMs: Math.min(waitMs, silentMs) });
    await migrateDatabase(connection, clock);
    const watch = await watchRevision(connection);
    const readDb = new Kysely<Database>({ dialect: poolDialect(readers) });
    const writeDb = new Kysely<Database>({ dialect: poolDialect(writers) });
    const writer = createWriter(statements, writeDb, watch, waitMs, connections);
    const close = async (): Promise<void> => {
      await writer.close();
      await Promise.all([watch.close(), endPools()]);
    };
    let closing: Promise<void> | undefined;
    return {
      read: statements.queries(readDb),
      readSnapshot: createSnapshots(statements, readDb, waitMs),
      write: (work) => writer.write('serializable', work),
      writeLocking: (work) => writer.write('read committed', work),
      revision: () => watch.current(),
      onCommitted: (listener) => watch.onCommitted(listener),
      isRevisionTrusted: () => watch.isTrusted(),
      check: () => checkRows(readDb),
      async ping() {
        const fault = watch.fault();
        if (fault !== undefined) throw fault;
        await sql`select 1`.execute(readDb);
      },
      pingWrite: () => writer.ping(),
      close() {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await endPools();
    throw translateError(error);
  }
}

/** Uses a connection with a shorter time-out, because the caller retries at startup. */
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

/** Other encodings can't store all characters. @throws RefusedError */
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
