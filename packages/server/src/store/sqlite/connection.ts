import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { whenFree } from './patience.ts';

/** How many prepared statements a connection keeps. Lists of varying lengths make texts of their own. */
const maxStatements = 256;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

/** Prepares each text once, and forgets those that were not used for longest. */
export function createStatementCache(database: DatabaseSync, capacity = maxStatements): (sql: string) => Prepared {
  const cache = new Map<string, Prepared>();
  return (sql) => {
    let prepared = cache.get(sql);
    if (prepared === undefined) {
      const statement = database.prepare(sql);
      prepared = { statement, returnsRows: statement.columns().length > 0 };
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

/** One `node:sqlite` database as Kysely sees a connection. */
export function createConnection(database: DatabaseSync, waitMs: number): DatabaseConnection {
  const prepare = createStatementCache(database);
  const ownTurn = createTurns();
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      await ownTurn();
      return whenFree(() => {
        const { statement, returnsRows } = prepare(sql);
        const values = parameters as readonly SQLInputValue[];
        if (returnsRows) return { rows: statement.all(...values).map((row) => ({ ...row }) as R) };
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
