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

/** Kysely over a pool of `pg`, with translated errors. The caller closes the pool. */
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
  const run = (connection: DatabaseConnection, command: string) => (connection as Connection).run(command);
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
      (connection as Connection).release();
    },
    async beginTransaction(connection, { isolationLevel, accessMode }) {
      const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
      await run(connection, `start transaction${level}${accessMode === undefined ? '' : ` ${accessMode}`}`);
    },
    async commitTransaction(connection) {
      // PostgreSQL answers `ROLLBACK` if an earlier statement failed and the work ignored the error.
      if ((await run(connection, 'commit')) !== 'COMMIT') throw new Error('The transaction was rolled back');
    },
    async rollbackTransaction(connection) {
      await run(connection, 'rollback').catch(() => {}); // a lost connection ends its transaction
    },
    async destroy() {},
  };
}

function createConnection(client: PoolClient): Connection {
  let lost: Error | undefined;
  const translatingErrors = async <T>(send: () => Promise<T>): Promise<T> => {
    try {
      return await send();
    } catch (error) {
      if (isConnectionLost(error)) lost = error as Error;
      throw translateError(error);
    }
  };
  return {
    executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      return translatingErrors(async () => {
        // PostgreSQL parses and plans a named statement once per connection.
        const name = hash('sha256', sql, 'base64url').slice(0, 24);
        const { command, rowCount, rows } = await client.query({ name, text: sql, values: parameters.map(encode) });
        const isChange = ['INSERT', 'UPDATE', 'DELETE'].includes(command);
        return isChange ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
      });
    },
    streamQuery() {
      throw new Error('The PostgreSQL store does not stream rows');
    },
    run: (sql) => translatingErrors(async () => (await client.query(sql)).command),
    release: () => client.release(lost),
  };
}

/** `collate "C"` compares byte by byte, independent of the database's locale. */
export const columnTypes: ColumnTypes = {
  text: sql`text collate "C"`,
  bigint: sql`bigint`,
  boolean: sql`boolean`,
  json: sql`json`,
};
