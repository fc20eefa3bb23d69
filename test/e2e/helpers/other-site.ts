import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A foreign site: empty pages, on which the tests act as its owner. */
export interface OtherSite {
  /** Another origin of the same site: cookies of `localhost` go along with what its pages send. */
  readonly sameSite: string;
  /** Another site altogether. */
  readonly crossSite: string;
  close(): void;
}

export async function startOtherSite(): Promise<OtherSite> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Win a boat</title><link rel="icon" href="data:,"><h1>Win a boat</h1>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    sameSite: `http://localhost:${port}`,
    crossSite: `http://127.0.0.1:${port}`,
    close: () => server.close(),
  };
}
