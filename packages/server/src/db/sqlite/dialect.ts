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
import { createFairSemaphore, type FairSemaphore } from '../fair-semaphore.ts';
import type { ColumnTypes } from '../migrate.ts';
import { createConnection } from './connection.ts';
import { retryWhileBusy } from './errors.ts';

interface NodeSqliteDialectOptions {
  /** An open database, which the caller closes. Its busy timeout should be short, because it blocks the thread. */
  readonly database: DatabaseSync;
  /** How long to wait for the connection, and for locks of other processes, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Kysely over a `node:sqlite` connection for writes. Transactions have exclusive use of it. They begin with `IMMEDIATE`, so that they
 * can't conflict with another process later (https://www.sqlite.org/lang_transaction.html).
 */
export function writingDialect(options: NodeSqliteDialectOptions): Dialect {
  return dialect(options, createFairSemaphore());
}

/** Kysely over a `node:sqlite` connection for single queries, which need no exclusive use. */
export function readingDialect(options: NodeSqliteDialectOptions): Dialect {
  return dialect(options, undefined);
}

/** Disables Kysely's queue for the connection, which has no time limit. The driver below has its own. */
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
      if (exclusive === undefined) throw new Error('Cannot begin a transaction on the read connection');
      await retryWhileBusy(() => database.exec('begin immediate'), waitMs);
    },
    async commitTransaction() {
      await retryWhileBusy(() => database.exec('commit'), waitMs);
    },
    async rollbackTransaction() {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (database.isTransaction) database.exec('rollback');
    },
    async destroy() {},
  };
}

/** `connection.ts` converts `boolean` and `json`, which SQLite doesn't have: https://www.sqlite.org/datatype3.html. */
export const columnTypes: ColumnTypes = {
  text: sql`text`,
  bigint: sql`integer`,
  boolean: sql`boolean`,
  json: sql`json`,
};
