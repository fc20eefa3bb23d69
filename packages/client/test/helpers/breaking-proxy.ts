import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Answer, type Fault, sendBroken } from './faults.ts';

/** What has been asked for, and what became of it. */
export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly fault: Fault | undefined;
  /** What the server has answered behind the proxy; `undefined` when it wasn't asked, or before it has answered. */
  status: number | undefined;
}

/** Stands before a server, and breaks what it is told to break. */
export interface BreakingProxy {
  readonly url: string;
  /** Every request that came, oldest first. */
  readonly exchanges: Exchange[];
  /** Says which fault a request meets; asked once for each. */
  breakBy(choose: (path: string, exchange: Omit<Exchange, 'fault'>) => Fault | undefined): void;
  /** Closes all connections and refuses new ones, as a server does that isn't there. */
  goDown(): Promise<void>;
  /** Listens once more, on the same port. */
  comeUp(): Promise<void>;
  /** Ends event streams, and nothing else. */
  cutStreams(): void;
  /** How many requests are still waited for. */
  underWay(): number;
  close(): Promise<void>;
}

/**
 * Starts a proxy on a free port of this machine before a server's URL. It lets everything through until it is told otherwise; what a
 * browser asks before its requests it always lets through, and doesn't count.
 */
export async function openBreakingProxy(upstream: string): Promise<BreakingProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const sockets = new Set<Socket>();
  const streams = new Set<ServerResponse>();
  const exchanges: Exchange[] = [];
  let choose: Parameters<BreakingProxy['breakBy']>[0] = () => undefined;
  let port = 0;
  let underWay = 0;

  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
    if (incoming.method === 'OPTIONS')
      return void forward(incoming, response, undefined).catch(() => response.destroy());
    const asked = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      status: undefined,
    };
    const exchange: Exchange = { ...asked, fault: choose(asked.path, asked) };
    exchanges.push(exchange);
    underWay++;
    response.on('close', () => underWay--).on('error', () => {}); // a client that goes away
    try {
      await forward(incoming, response, exchange);
    } catch {
      response.socket?.resetAndDestroy(); // the server is gone, so is this connection
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await comeUp();
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    breakBy(by) {
      choose = by;
    },
    goDown,
    comeUp,
    cutStreams() {
      for (const response of streams) response.socket?.resetAndDestroy();
    },
    underWay: () => underWay,
    async close() {
      await goDown();
      agent.destroy();
    },
  };

  async function comeUp(): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening'); // rejects on an error
    port = (server.address() as AddressInfo).port;
  }

  async function goDown(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  }

  async function forward(
    incoming: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange | undefined,
  ): Promise<void> {
    const answered = await ask(incoming);
    if (exchange !== undefined) exchange.status = answered.statusCode;
    const fields = fieldsOf(answered);
    if (answered.headers['content-type']?.startsWith('text/event-stream')) {
      if (exchange?.fault === undefined) return passOn(answered, fields, response);
      answered.destroy(); // it has no end to wait for
      return sendBroken(exchange.fault, { status: 200, fields, body: Buffer.from(':\n\n') }, response);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of answered) chunks.push(chunk);
    const answer: Answer = { status: answered.statusCode ?? 0, fields, body: Buffer.concat(chunks) };
    sendBroken(exchange?.fault, answer, response);
  }

  function passOn(stream: IncomingMessage, fields: [string, string][], response: ServerResponse): void {
    streams.add(response);
    response.on('close', () => {
      streams.delete(response);
      stream.destroy();
    });
    response.writeHead(stream.statusCode ?? 0, fields.flat());
    response.flushHeaders();
    stream.on('error', () => response.socket?.resetAndDestroy()).pipe(response);
  }

  function ask({ method, url, headers }: IncomingMessage): Promise<IncomingMessage> {
    assert.ok(method === 'GET' || method === 'OPTIONS', `a host asks for things and changes nothing: ${method} ${url}`);
    return new Promise((resolve, reject) => {
      const target = new URL(url ?? '', upstream);
      const { connection: _, ...others } = headers;
      request(target, { method, headers: { ...others, host: target.host }, agent }, resolve)
        .on('error', reject)
        .end();
    });
  }
}

const ofTheConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length']);

function fieldsOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const fields: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!ofTheConnection.has(name)) fields.push([name, rawHeaders[at + 1] ?? '']);
  }
  return fields;
}
