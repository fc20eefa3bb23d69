import pg from 'pg';
import { RefusedError } from '../store.ts';
import { type ConnectionOptions, clientConfig } from './pool.ts';

export const pooledMessage =
  'Cannot use the database: a connection pooler does not keep sessions, so nodes would miss commits. ' +
  'Set pool_mode = session in PgBouncer, or connect to PostgreSQL directly.';

/**
 * Checks that each connection keeps its own session. A pooler that shares sessions would lose the notifications of commits. Two
 * connections with separate sessions have different backend process ids, which don't change.
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
    await begin(second); // keeps its session until the end of the transaction
    const other = await backendOf(second);
    // Compared first: with a single session, the query of the first connection would wait for the second.
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

/** A pooler that shares sessions between statements rejects transactions. */
async function begin(client: pg.Client): Promise<void> {
  try {
    await client.query('begin');
  } catch (error) {
    throw /pooling mode/.test(String(error)) ? new RefusedError(pooledMessage, { cause: error }) : error;
  }
}
