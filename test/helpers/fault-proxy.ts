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

export interface UpstreamResponse {
  readonly status: number;
  /** Names and values in turn, as `writeHead()` takes them; without the hop-by-hop fields. */
  readonly headers: string[];
  readonly body: Buffer;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends the request to the upstream server. The body of an event stream is one comment, since it has no end. */
  forward(): Promise<UpstreamResponse>;
}

/** Handles a request instead of the proxy. */
export type Fault = (exchange: Exchange) => void | Promise<void>;

export interface ProxiedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** An HTTP proxy on a port of this machine that injects faults. Without a fault it forwards requests, event streams too. */
export interface FaultProxy {
  readonly url: string;
  /** All requests, oldest first, without CORS preflights. */
  readonly requests: readonly ProxiedRequest[];
  /** Injects faults into the next requests, one each. */
  injectNext(...faults: readonly Fault[]): void;
  /** Injects a fault into all following requests; `undefined` ends it. */
  inject(fault: Fault | undefined): void;
  /** Chooses a fault for each following request. */
  injectBy(choose: (request: ProxiedRequest) => Fault | undefined): void;
  /** Closes all connections and refuses new ones, as if the server were down. */
  goDown(): Promise<void>;
  /** Listens again on the same port. */
  comeUp(): Promise<void>;
  cutEventStreams(): void;
  /** The number of requests without a complete response. */
  openRequests(): number;
  close(): Promise<void>;
}

/** Sends the upstream response unchanged. */
export const forward: Fault = async ({ request, response, forward }) => {
  const { status, headers, body } = await forward();
  response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
};

/** Closes the connection without a response. */
export const closeConnection: Fault = ({ response }) => void response.destroy();

/** Sends half of the body, then closes the connection. */
export const truncate: Fault = async ({ request, response, forward }) => {
  const { status, headers, body } = await forward();
  response.writeHead(status, headers);
  if (request.method === 'HEAD') return void response.end();
  response.write(body.subarray(0, body.length / 2));
  setTimeout(() => response.destroy(), 5);
};

/** Changes the last byte of a body. */
export const corrupt: Fault = async ({ request, response, forward }) => {
  const { status, headers, body } = await forward();
  if (request.method === 'GET' && status === 200) body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
  response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
};

/** @param upstream a URL, or a port of this machine */
export async function openFaultProxy(upstream: string | number): Promise<FaultProxy> {
  const target = new URL(typeof upstream === 'number' ? `http://127.0.0.1:${upstream}` : upstream);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const sockets = new Set<Socket>();
  const streams = new Set<ServerResponse>();
  const requests: ProxiedRequest[] = [];
  const queue: Fault[] = [];
  let choose: (request: ProxiedRequest) => Fault | undefined = () => undefined;
  let port = 0;
  let openRequests = 0;

  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    let fault: Fault | undefined;
    if (method !== 'OPTIONS') {
      const proxied = { method, path, headers };
      requests.push(proxied);
      fault = queue.shift() ?? choose(proxied);
      openRequests++;
      response.once('close', () => openRequests--);
    }
    response.on('error', () => {}); // the client closed the connection
    try {
      if (fault === undefined) await proxy(request, response);
      else await fault({ request, response, forward: () => collect(request) });
    } catch {
      resetConnection(request.socket); // the upstream server closed the connection
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await comeUp();
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    injectNext: (...faults) => void queue.push(...faults),
    inject(fault) {
      choose = () => fault;
    },
    injectBy(by) {
      choose = by;
    },
    goDown,
    comeUp,
    cutEventStreams() {
      for (const response of streams) resetConnection(response.req.socket);
    },
    openRequests: () => openRequests,
    async close() {
      await goDown();
      agent.destroy();
    },
  };

  async function comeUp(): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }

  async function goDown(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) resetConnection(socket);
    await closed;
  }

  async function send(incoming: IncomingMessage): Promise<IncomingMessage> {
    const { method, url: path, headers } = incoming;
    const { connection: _, ...others } = headers;
    const sent = request({ agent, host: target.hostname, port: target.port, method, path, headers: others });
    incoming.pipe(sent);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer;
  }

  async function collect(incoming: IncomingMessage): Promise<UpstreamResponse> {
    const answer = await send(incoming);
    const { statusCode: status = 0 } = answer;
    if (isEventStream(answer)) {
      answer.destroy();
      return { status, headers: headersOf(answer), body: Buffer.from(':\n\n') };
    }
    const body = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>));
    return { status, headers: headersOf(answer), body };
  }

  async function proxy(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await send(incoming);
    if (response.closed) return void answer.destroy();
    if (isEventStream(answer)) streams.add(response);
    response.on('close', () => {
      streams.delete(response);
      answer.destroy();
    });
    response.writeHead(answer.statusCode ?? 0, headersOf(answer));
    response.flushHeaders();
    answer.on('error', () => resetConnection(incoming.socket)).pipe(response);
  }
}

/**
 * Resets a connection. A socket that is reset while its end is being sent would stay open for ever
 * (libuv refuses: https://docs.libuv.org/en/v1.x/tcp.html#c.uv_tcp_close_reset): it is closed after that.
 */
export function resetConnection(socket: Socket): void {
  if (!socket.writableEnded) socket.resetAndDestroy();
  else if (socket.writableFinished) socket.destroy();
  else socket.once('finish', () => socket.destroy());
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}

const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding']);

function headersOf({ rawHeaders }: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!hopByHop.has(name)) headers.push(name, rawHeaders[at + 1] ?? '');
  }
  return headers;
}
