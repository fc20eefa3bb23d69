import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server by TCP, which can be cut without notifying either end, as by a cable, or a firewall that forgets. */
export interface CutFront {
  readonly port: number;
  /** How many connections have come. */
  readonly connections: number;
  /** Lets nothing more through on the connections that there are. */
  cut(): void;
  /** As {@link CutFront.cut}, but who came hears at once that the connection is gone; the target does not. */
  hangUp(): void;
  /** Lets nothing through on further connections but the first `most` of them. */
  pass(most: number): void;
  close(): Promise<void>;
}

/** @param target the path of a socket, or a port of this machine */
export async function openCutFront(target: string | number): Promise<CutFront> {
  const [sockets, nears] = [new Set<Socket>(), new Set<Socket>()];
  let connections = 0;
  let [cuts, passing] = [0, Number.POSITIVE_INFINITY];
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    return socket.once('close', () => void sockets.delete(socket));
  };
  const join = (from: Socket, to: Socket): void => {
    const madeAt = cuts;
    const isOpen = (): boolean => cuts === madeAt;
    from.on('data', (bytes) => void (isOpen() && to.write(bytes)));
    from.on('close', () => void (isOpen() && to.destroy()));
  };
  // What is cut off gets no end either when the other side ends.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    connections++;
    nears.add(keep(near).once('close', () => void nears.delete(near)));
    if (passing-- <= 0) return void near.resume();
    const far = keep(typeof target === 'string' ? connect(target) : connect(target, '127.0.0.1'));
    join(near, far);
    join(far, near);
    near.on('end', () => far.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    cut() {
      cuts++;
    },
    hangUp() {
      cuts++;
      for (const near of nears) near.destroy();
    },
    pass(most) {
      passing = most;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
