import { hash } from 'node:crypto';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { encode } from '../db.ts';
import type { ColumnTypes } from '../migrate.ts';
import { isConnectionLost, translateError } from './errors.ts';

/** Kysely over a pool of `pg`, with the port's errors. The pool is closed by the caller. */
export function poolDialect(pool: Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

interface Connection extends DatabaseConnection {
  run(sql: string): Promise<string>;
  release(): void;
}

function createDriver(pool: Pool): Driver {
  const own = (connection: DatabaseConnection) => connection as Connection;
  return {
    async init() {},
    async acquireConnection() {
      try {
        return createConnection(await pool.connect());
      } catch (error) {
        throw translateError(error);
      }
    },
    async releaseConnection(connection) {
      own(connection).release();
    },
    async beginTransaction(connection, { isolationLevel, accessMode }) {
      const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
      await own(connection).run(`start transaction${level}${accessMode === undefined ? '' : ` ${accessMode}`}`);
    },
    async commitTransaction(connection) {
      // An earlier statement's error that the work took no notice of has undone everything.
      if ((await own(connection).run('commit')) !== 'COMMIT') throw new Error('The transaction was rolled back');
    },
    async rollbackTransaction(connection) {
      await own(connection)
        .run('rollback')
        .catch(() => {}); // the connection is lost, and the transaction with it
    },
    async destroy() {},
  };
}

function createConnection(client: PoolClient): Connection {
  let lost: Error | undefined;
  const demand = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (isConnectionLost(error)) lost = error as Error;
      throw translateError(error);
    }
  };
  return {
    executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      return demand(async () => {
        // A name has the server parse and plan the statement once for a connection; there are as many as there are queries.
        const name = hash('sha256', sql, 'base64url').slice(0, 24);
        const { command, rowCount, rows } = await client.query({ name, text: sql, values: parameters.map(encode) });
        const isChange = ['INSERT', 'UPDATE', 'DELETE'].includes(command);
        return isChange ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
      });
    },
    streamQuery() {
      throw new Error('Nothing is streamed');
    },
    run: (sql) => demand(async () => (await client.query(sql)).command),
    release: () => client.release(lost),
  };
}

/** Compared byte by byte, whatever locale the database was made with, so that lists are in the same order everywhere. */
export const columnTypes: ColumnTypes = {
  text: sql`text collate "C"`,
  bigint: sql`bigint`,
  boolean: sql`boolean`,
  json: sql`json`,
};
