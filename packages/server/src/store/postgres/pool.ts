import pg from 'pg';

/** `bigint`: what is counted, and times in milliseconds. Beyond 2^53 there is neither. */
const int8 = 20;

const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** What all of a store's connections have in common. */
export interface ConnectionOptions {
  readonly url: string;
  /** How long to wait for a connection, and for a statement's answer, in milliseconds. */
  readonly waitMs: number;
}

export function clientConfig({ url, waitMs }: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: url,
    types,
    application_name: 'tenon',
    connectionTimeoutMillis: waitMs,
    // The server gives up first, and says so; the client's own limit is for a server that says nothing any more.
    statement_timeout: waitMs,
    query_timeout: waitMs + 1000,
    // A process that stands still within a transaction lets go of its locks.
    idle_in_transaction_session_timeout: waitMs,
    keepAlive: true,
  };
}

export function openPool(options: ConnectionOptions, max: number): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(options), max, idleTimeoutMillis: 30_000 });
  // Of a connection that nobody uses at the moment: the pool drops it, and makes another one when it is needed.
  pool.on('error', () => {});
  // Of one that is in use: its query is told too, and an event that nobody listens to would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
