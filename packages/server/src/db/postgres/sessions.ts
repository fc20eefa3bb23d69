import pg from 'pg';
import { RefusedError } from '../store.ts';
import { type ConnectionOptions, clientConfig } from './pool.ts';

/** What an operator reads of a pooler that can't be used. */
export const pooledMessage =
  'Cannot use the database: a connection pooler on the way does not keep sessions, and nodes would not hear of commits. ' +
  'Set pool_mode = session in PgBouncer, or connect to PostgreSQL itself.';

/**
 * Demands that each connection has a session of its own in PostgreSQL: nodes listen for commits, and a pooler that hands sessions
 * from one connection to another after each transaction loses what they hear. It is found out by the number of the process that
 * serves a connection: two connections have different ones, and each keeps its own.
 *
 * @throws RefusedError
 */
export async function requireSessions(options: ConnectionOptions): Promise<void> {
  const [first, second] = [new pg.Client(clientConfig(options)), new pg.Client(clientConfig(options))];
  for (const client of [first, second]) client.on('error', () => {});
  try {
    await first.connect();
    await second.connect();
    const own = await backendOf(first);
    await beginIn(second); // holds a session, which is the first one's where sessions are shared
    const other = await backendOf(second);
    // Where the second holds the only session, the first would wait for it.
    if (other === own || (await backendOf(first)) !== own) throw new RefusedError(pooledMessage);
    await second.query('rollback');
    if ((await backendOf(second)) !== other) throw new RefusedError(pooledMessage);
  } finally {
    await Promise.allSettled([first.end(), second.end()]);
  }
}

async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

/** A pooler that hands sessions on after each statement refuses transactions. */
async function beginIn(client: pg.Client): Promise<void> {
  try {
    await client.query('begin');
  } catch (error) {
    throw /pooling mode/.test(String(error)) ? new RefusedError(pooledMessage, { cause: error }) : error;
  }
}
