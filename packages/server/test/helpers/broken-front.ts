import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a request: it is answered here, or `pass` sends it on and hands out what comes back. */
export type Fault = (asked: {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  pass(): Promise<{ readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: Buffer }>;
}) => void | Promise<void>;

/** A server in front of another one, which spoils what it is told to. */
export interface BrokenFront {
  readonly url: string;
  /** How many requests have come. */
  readonly asked: number;
  /** What the next requests meet, one after the other; those after them pass. */
  next(...faults: readonly Fault[]): void;
  /** What all further requests meet; `undefined` lets them pass. */
  always(fault: Fault | undefined): void;
  close(): Promise<void>;
}

export async function openBrokenFront(port: number): Promise<BrokenFront> {
  const queue: Fault[] = [];
  let standing: Fault | undefined;
  let asked = 0;
  const pass = async (incoming: IncomingMessage) => {
    const { method, url, headers } = incoming;
    const onward = request({ port, host: '127.0.0.1', method, path: url, headers });
    incoming.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    const body = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>));
    return { status: answer.statusCode ?? 500, headers: answer.headers, body };
  };
  const passAll: Fault = async ({ response, pass }) => {
    const { status, headers, body } = await pass();
    response.writeHead(status, headers).end(body);
  };
  const server = createServer(async (incoming, response) => {
    asked++;
    const fault = queue.shift() ?? standing ?? passAll;
    try {
      await fault({ request: incoming, response, pass: () => pass(incoming) });
    } catch {
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get asked() {
      return asked;
    },
    next: (...faults) => void queue.push(...faults),
    always: (fault) => {
      standing = fault;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
