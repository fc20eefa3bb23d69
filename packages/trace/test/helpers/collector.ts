import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { decodeJson, decodeProtobuf, official, type Plain } from './otlp-definitions.ts';

/** A request as it came, its body decoded by the official definitions. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
  readonly message: Plain;
}

/** What to answer: nothing said is 200 with an empty body. `hang` never answers, `drop` closes the connection. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly behaviour?: 'hang' | 'drop';
}

/** A receiver of OTLP over HTTP, as a collector is one. */
export interface Collector {
  readonly url: string;
  readonly received: readonly Received[];
  /** Answers requests from here on with these, one each, and then with 200. */
  readonly answer: (...answers: readonly Answer[]) => void;
  readonly close: () => Promise<void>;
}

/** A collector that pages of any origin may send to: https://developer.mozilla.org/docs/Web/HTTP/Guides/CORS */
const forAnyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
};

export async function startCollector(): Promise<Collector> {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const server = createServer((request, response) => {
    void take(request, response);
  });

  async function take(request: IncomingMessage, response: ServerResponse) {
    for (const [name, value] of Object.entries(forAnyOrigin)) response.setHeader(name, value);
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push(read(request, Buffer.concat(chunks)));
    const { status = 200, headers = {}, body = '', behaviour } = answers.shift() ?? {};
    if (behaviour === 'drop') request.socket.destroy();
    else if (behaviour === undefined) response.writeHead(status, headers).end(body);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (...next) => void answers.push(...next),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function read(request: IncomingMessage, body: Buffer): Received {
  const path = request.url ?? '';
  const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  const type = official.traceRequest;
  const message =
    request.headers['content-type'] === 'application/json'
      ? decodeJson(type, plain.toString())
      : decodeProtobuf(type, plain);
  return { path, headers: request.headers, bytes: body.length, message };
}

/** The spans of a request. */
export function spansIn({ message }: Received): Plain[] {
  return message.resourceSpans[0].scopeSpans[0].spans;
}

/** The names of all spans that came, request by request. */
export function namesIn(received: readonly Received[]): string[][] {
  return received.map((request) => spansIn(request).map(({ name }) => name));
}
