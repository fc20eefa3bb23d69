// What test files of one run share: a PostgreSQL 18, started for the first one that asks. A test file asks by
// `sharedPostgres()` of `packages/server/test/helpers/postgres.ts`; each suite makes a database of its own there.
import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * Answers, on a port of the loopback interface, `GET /postgres` with the URL of that server's database `postgres`.
 *
 * @returns {Promise<{ url: string, close(): Promise<void> }>} `close` stops everything that was started
 */
export async function openTestServices() {
  /** @type {Promise<import('../../packages/server/test/helpers/postgres.ts').PostgresServer> | undefined} */
  let postgres;
  const startPostgres = async () => {
    const helper = await import('../../packages/server/test/helpers/postgres.ts');
    return helper.startPostgres(18);
  };
  const server = createServer(async (request, response) => {
    try {
      if (request.url !== '/postgres') throw new Error(`There is no service at ${request.url}`);
      postgres ??= startPostgres();
      response.end((await postgres).url('postgres'));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      (await postgres?.catch(() => undefined))?.stop();
    },
  };
}
