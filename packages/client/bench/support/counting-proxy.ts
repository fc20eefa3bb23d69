import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes connections on to a server, and counts what goes through them: all of HTTP, nothing of TCP and IP. */
export interface CountingProxy {
  readonly url: string;
  /** Bytes to and from the server since it was asked last. */
  take(): { readonly sent: number; readonly received: number };
  close(): Promise<void>;
}

export async function openCountingProxy(upstream: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(upstream);
  const counts = { sent: 0, received: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket
        .on('close', () => sockets.delete(socket))
        .on('error', () => {
          client.destroy();
          target.destroy();
        });
    }
    client.on('data', (chunk) => {
      counts.sent += chunk.length;
    });
    target.on('data', (chunk) => {
      counts.received += chunk.length;
    });
    client.pipe(target);
    target.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = { ...counts };
      counts.sent = 0;
      counts.received = 0;
      return taken;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
