import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { encode } from '../db.ts';
import { whenFree } from './errors.ts';

/** How many prepared statements a connection keeps. Lists of varying lengths make texts of their own. */
const maxStatements = 256;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  /** For columns that SQLite stores as something else. */
  readonly decoders: readonly (readonly [column: string, decode: (value: SQLOutputValue) => unknown])[];
}

/** By the declared types of columns. */
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

/** Prepares each text once, and forgets those that were not used for longest. */
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

/** For how long statements run one after the other before other work of the process gets its turn, in milliseconds. */
const turnMs = 10;

/**
 * Statements block the thread, and what awaits one goes on before anything else does: a transaction of many statements would
 * hold up every request of the process.
 *
 * @returns resolves when a statement may run: after the other work that waits when the statements of this turn have taken long
 */
function createTurns(): () => Promise<void> {
  let beganAt: number | undefined;
  const end = (): void => {
    beganAt = undefined;
  };
  const isOver = (): boolean => {
    if (beganAt !== undefined) return performance.now() - beganAt >= turnMs;
    beganAt = performance.now();
    setImmediate(end);
    return false; // each turn runs a statement, however slow the machine is
  };
  return async () => {
    while (isOver()) await new Promise((resolve) => setImmediate(resolve));
  };
}

/** A parameter as SQLite takes it. */
export function encodeForSqlite(value: unknown): SQLInputValue {
  return (typeof value === 'boolean' ? Number(value) : encode(value)) as SQLInputValue;
}

/** One `node:sqlite` database as Kysely sees a connection. */
export function createConnection(database: DatabaseSync, waitMs: number): DatabaseConnection {
  const cached = createStatementCache(database);
  const ownTurn = createTurns();
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      await ownTurn();
      return whenFree(() => {
        const prepared = cached(sql);
        const { statement, returnsRows } = prepared;
        const values = parameters.map(encodeForSqlite);
        if (returnsRows) return { rows: statement.all(...values).map((row) => decodeRow(prepared, row) as R) };
        const { changes, lastInsertRowid } = statement.run(...values);
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
      }, waitMs);
    },
    streamQuery() {
      // An open cursor would hold the snapshot of the read connection, and `revision` with it.
      throw new Error('The SQLite store does not stream rows');
    },
  };
}
