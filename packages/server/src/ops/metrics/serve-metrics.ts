import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../../http/node-http.ts';
import { textFormatType } from './registry.ts';

export type MetricsServer = Awaited<ReturnType<typeof serveMetrics>>;

/** The request of a scrape is small. */
const limits = { maxHeaderSize: 8 * 1024, headersTimeout: 5_000, requestTimeout: 10_000 };

/**
 * Serves `GET /metrics` at a separate address, so that it can't be reached through the public one.
 *
 * @throws errors of listening
 */
export async function serveMetrics(
  text: () => string,
  { host, port }: { readonly host: string; readonly port: number },
) {
  const server = createServer(limits, (message, response) => respond(text, message, response));
  server.unref(); // metrics alone don't keep the process alive
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host, port, exclusive: true }, resolve);
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function respond(read: () => string, message: IncomingMessage, response: ServerResponse): void {
  const { method, url = '' } = message;
  response.setHeader('cache-control', 'no-store').setHeader('x-content-type-options', 'nosniff');
  if (url.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end();
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  const text = Buffer.from(read());
  response.writeHead(200, { 'content-type': textFormatType, 'content-length': text.length });
  response.end(method === 'HEAD' ? undefined : text);
}
