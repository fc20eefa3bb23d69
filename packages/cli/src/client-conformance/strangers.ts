import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Another host, to which a misbehaving server redirects. */
export interface Strangers {
  readonly url: string;
  /** What clients must never do there, in words. */
  violations(token: string): readonly string[];
  close(): Promise<void>;
}

export async function openStrangers(): Promise<Strangers> {
  const received: string[] = [];
  const server = createServer(({ url, rawHeaders }, response) => {
    received.push(`${url} ${rawHeaders.join(' ')}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    violations: (token) => (received.some((text) => text.includes(token)) ? ['it sent the token to another host'] : []),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
