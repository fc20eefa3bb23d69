import type { DatabaseSync } from 'node:sqlite';
import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import type { ColumnTypes } from '../migrate.ts';
import { createFairSemaphore, type FairSemaphore } from '../postgres/fair-semaphore.ts';
import { createConnection } from './connection.ts';
import { whenFree } from './errors.ts';

/** How a Kysely instance uses its one connection. */
interface NodeSqliteDialectOptions {
  /** Open, and closed by the caller. Its own busy timeout is best short, since it blocks the thread. */
  readonly database: DatabaseSync;
  /** How long to wait for a turn, and for other processes to let go of the database, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Kysely over `node:sqlite`, for a connection that writes: each user has it alone until done, and a transaction begins
 * `IMMEDIATE`, so that it never finds out half-way that another process was faster
 * (https://www.sqlite.org/lang_transaction.html).
 */
export function writingDialect(options: NodeSqliteDialectOptions): Dialect {
  return dialect(options, createFairSemaphore());
}

/** Kysely over `node:sqlite`, for a connection that only reads, one statement at a time: nobody waits for anybody. */
export function readingDialect(options: NodeSqliteDialectOptions): Dialect {
  return dialect(options, undefined);
}

/** The adapter for SQLite makes users of a connection queue without end; the driver here has a queue with a time limit. */
class NodeSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function dialect(options: NodeSqliteDialectOptions, exclusive: FairSemaphore | undefined): Dialect {
  return {
    createAdapter: () => new NodeSqliteAdapter(),
    createDriver: () => createDriver(options, exclusive),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function createDriver({ database, waitMs }: NodeSqliteDialectOptions, exclusive: FairSemaphore | undefined): Driver {
  const connection: DatabaseConnection = createConnection(database, waitMs);
  return {
    async init() {},
    async acquireConnection() {
      await exclusive?.acquire(waitMs);
      return connection;
    },
    async releaseConnection() {
      exclusive?.release();
    },
    async beginTransaction() {
      if (exclusive === undefined) throw new Error('Cannot begin a transaction on the connection that only reads');
      await whenFree(() => database.exec('begin immediate'), waitMs);
    },
    async commitTransaction() {
      await whenFree(() => database.exec('commit'), waitMs);
    },
    async rollbackTransaction() {
      // After some errors, a full disk among them, SQLite has rolled back by itself.
      if (database.isTransaction) database.exec('rollback');
    },
    async destroy() {},
  };
}

/** SQLite's `text` compares bytes, and its integers have 64 bits: https://www.sqlite.org/datatype3.html. `connection.ts` converts the others. */
export const columnTypes: ColumnTypes = {
  text: sql`text`,
  bigint: sql`integer`,
  boolean: sql`boolean`,
  json: sql`json`,
};
