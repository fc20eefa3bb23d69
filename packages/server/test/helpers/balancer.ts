import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A load balancer as plain as they come: it asks each node whether it is ready, sends requests to those in turn, and repeats none. */
export interface Balancer {
  readonly url: string;
  /** What no node answered; empty as long as no request was dropped. */
  readonly dropped: readonly string[];
  /** How many requests each node was sent, by its URL. */
  readonly sent: ReadonlyMap<string, number>;
  /** Whether it would send requests to a node. */
  isReady(node: string): boolean;
  close(): Promise<void>;
}

const askEveryMs = 50;

export async function startBalancer(nodes: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true }); // as balancers do: idle connections are where restarts lose requests
  const ready = new Set<string>();
  const sent = new Map(nodes.map((node) => [node, 0]));
  const dropped: string[] = [];
  const stopping = new AbortController();
  let turn = 0;

  const watch = async (node: string): Promise<void> => {
    while (!stopping.signal.aborted) {
      const answer = await fetch(`${node}/readyz`, { signal: stopping.signal }).catch(() => undefined);
      if (answer?.ok) ready.add(node);
      else ready.delete(node);
      await answer?.body?.cancel();
      await sleep(askEveryMs);
    }
  };
  const forward = (message: IncomingMessage, response: ServerResponse): void => {
    const candidates = nodes.filter((node) => ready.has(node));
    const node = candidates[turn++ % candidates.length];
    const what = `${message.method} by ${node}`;
    const drop = (error: Error): void => {
      dropped.push(`${what}: ${error.message}`);
      response.destroy();
    };
    if (node === undefined) {
      drop(new Error('no node is ready'));
      return;
    }
    sent.set(node, (sent.get(node) ?? 0) + 1);
    const { connection: _, ...headers } = message.headers;
    const upstream = request(node + message.url, { agent, method: message.method ?? 'GET', headers }, (answer) => {
      const { connection: _, 'keep-alive': __, ...fields } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, fields);
      answer.on('error', drop).pipe(response);
    });
    message.pipe(upstream.on('error', drop));
  };

  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const watching = nodes.map(watch);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dropped,
    sent,
    isReady: (node) => ready.has(node),
    async close() {
      stopping.abort();
      await Promise.all(watching);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
