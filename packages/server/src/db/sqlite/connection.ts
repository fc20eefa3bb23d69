import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { encode } from '../db.ts';
import { retryWhileBusy } from './errors.ts';

/** The maximum number of cached prepared statements. Lists of each length need a statement of their own. */
const maxStatements = 256;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  /** For columns whose type SQLite doesn't have. */
  readonly decoders: readonly (readonly [column: string, decode: (value: SQLOutputValue) => unknown])[];
}

/** By the columns' declared types. */
const decodersByType: Readonly<Record<string, (value: SQLOutputValue) => unknown>> = {
  boolean: (value) => value !== 0,
  json: (value) => JSON.parse(String(value)),
};

function prepare(database: DatabaseSync, sql: string): Prepared {
  const statement = database.prepare(sql);
  const columns = statement.columns();
  const decoders = columns.flatMap(({ name, type }) => {
    const decode = decodersByType[type ?? ''];
    return decode === undefined ? [] : [[name, decode] as const];
  });
  return { statement, returnsRows: columns.length > 0, decoders };
}

function decodeRow({ decoders }: Prepared, row: Record<string, SQLOutputValue>): Record<string, unknown> {
  const decoded: Record<string, unknown> = { ...row };
  for (const [column, decode] of decoders) {
    const value = row[column];
    if (value !== undefined && value !== null) decoded[column] = decode(value);
  }
  return decoded;
}

/** An LRU cache of prepared statements. */
export function createStatementCache(database: DatabaseSync, capacity = maxStatements): (sql: string) => Prepared {
  const cache = new Map<string, Prepared>();
  return (sql) => {
    let prepared = cache.get(sql);
    if (prepared === undefined) {
      prepared = prepare(database, sql);
    } else {
      cache.delete(sql); // a Map keeps the order of insertion, so this moves it to the end
    }
    cache.set(sql, prepared);
    if (cache.size > capacity) {
      const [oldest] = cache.keys();
      if (oldest !== undefined) cache.delete(oldest);
    }
    return prepared;
  };
}

/** How long statements may run before they yield to the event loop, in milliseconds. */
const maxBlockedMs = 10;

/**
 * Returns a function to call before each statement. It yields to the event loop when statements have run for {@link maxBlockedMs} in this
 * turn. Otherwise a transaction of many statements would block all requests: statements are synchronous, and promises resolve before
 * the event loop continues.
 */
function createYield(): () => Promise<void> {
  let turnStartedAt: number | undefined;
  const mustYield = (): boolean => {
    if (turnStartedAt !== undefined) return performance.now() - turnStartedAt >= maxBlockedMs;
    turnStartedAt = performance.now();
    setImmediate(() => {
      turnStartedAt = undefined;
    });
    return false; // each turn runs at least one statement
  };
  return async () => {
    while (mustYield()) await new Promise((resolve) => setImmediate(resolve));
  };
}

export function encodeForSqlite(value: unknown): SQLInputValue {
  return (typeof value === 'boolean' ? Number(value) : encode(value)) as SQLInputValue;
}

/** Adapts a `node:sqlite` database to Kysely. */
export function createConnection(database: DatabaseSync, waitMs: number): DatabaseConnection {
  const prepareCached = createStatementCache(database);
  const yieldIfNeeded = createYield();
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      await yieldIfNeeded();
      return retryWhileBusy(() => {
        const prepared = prepareCached(sql);
        const { statement, returnsRows } = prepared;
        const values = parameters.map(encodeForSqlite);
        if (returnsRows) return { rows: statement.all(...values).map((row) => decodeRow(prepared, row) as R) };
        const { changes, lastInsertRowid } = statement.run(...values);
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
      }, waitMs);
    },
    streamQuery() {
      // An open cursor would keep the read connection at an old snapshot, so `revision` would not change.
      throw new Error('The SQLite store does not stream rows');
    },
  };
}
