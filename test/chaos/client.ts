import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Random } from '../helpers/random.ts';
import type { Node } from './nodes.ts';
import type { Report } from './report.ts';

export interface RequestOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: Uint8Array;
}

export interface ClientRequest extends RequestOptions {
  readonly method: string;
  readonly path: string;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The outcome of a request, with the times at which it was sent and answered. */
export interface Reply {
  /** `undefined` if the connection failed. */
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly node: Node;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Stands between the client and the nodes. Seeded faults are injected here. */
export type Interceptor = (
  request: ClientRequest,
  forward: (request: ClientRequest) => Promise<ClientResponse>,
) => Promise<ClientResponse>;

/**
 * Sends reads to a random node. Sends writes to one node for a few seconds, so that the other nodes have no writes of their own and
 * must learn of these from the database.
 */
export interface Client {
  send(method: string, path: string, options?: RequestOptions, node?: Node): Promise<Reply>;
  close(): void;
}

/** How long writes go to the same node. */
const writeAffinityMs = 4000;

/** A request that takes longer is a violation. The server waits at most 10 seconds for a store that is down. */
const hungMs = 120_000;

export const contentPath = '/api/v1/c/';

export function createClient(
  nodes: readonly Node[],
  random: Random,
  report: Report,
  now: () => number,
  intercept: Interceptor = (request, forward) => forward(request),
): Client {
  const agent = new Agent({ keepAlive: true });
  let [writeNode, writeNodeUntilMs] = [random.pick(nodes), Number.NEGATIVE_INFINITY];
  const pickNode = (method: string): Node => {
    if (method === 'GET') return pickListening(nodes, random);
    if (now() > writeNodeUntilMs || writeNode.port === undefined) {
      writeNode = pickListening(nodes, random);
      writeNodeUntilMs = now() + writeAffinityMs;
    }
    return writeNode;
  };
  const send: Client['send'] = async (method, path, options = {}, node = pickNode(method)) => {
    const fromMs = now();
    const { port } = node;
    let response: ClientResponse | undefined;
    let failure: unknown;
    try {
      if (port === undefined) throw new Error('no node is listening');
      response = await intercept({ ...options, method, path }, (request) => exchange(agent, port, request));
    } catch (error) {
      failure = error;
    }
    const toMs = now();
    const route = `${method} ${path.split('/').slice(1, 4).join('/')}`;
    const where = `${route} on node ${node.number}, sent at ${Math.round(fromMs)} ms`;
    if (toMs - fromMs > hungMs) report.violation(`${where} hung: ${failure ?? response?.status}`);
    if (response !== undefined) checkErrorResponse(response, (what) => report.violation(`${where}: ${what}`));
    // The server also aborts a content response if the object store fails or returns wrong bytes.
    const mayFail = path.startsWith(contentPath) || node.wasDisruptedSince(fromMs);
    if (response === undefined && !mayFail) report.violation(`${where}: ${failure}`);
    report.count(`${route}: ${response?.status ?? 'connection failed'}`);
    const { status, headers = {}, body = Buffer.alloc(0) } = response ?? {};
    return { status, headers, body, node, fromMs, toMs };
  };
  return { send, close: () => agent.destroy() };
}

function pickListening(nodes: readonly Node[], random: Random): Node {
  const listening = nodes.filter(({ port }) => port !== undefined);
  return random.pick(listening.length === 0 ? nodes : listening);
}

async function exchange(
  agent: Agent,
  port: number,
  { method, path, ...options }: ClientRequest,
): Promise<ClientResponse> {
  const { token, json, body = json === undefined ? undefined : Buffer.from(JSON.stringify(json)) } = options;
  const sent = request({
    agent,
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(body !== undefined && { 'content-length': body.length }),
      ...options.headers,
    },
    timeout: hungMs,
  });
  sent.on('timeout', () => sent.destroy(new Error(`no network activity for ${hungMs} ms`)));
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { headers } = response;
  const received = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
  return { status: response.statusCode ?? 0, headers, body: received };
}

/** An error is a problem document; only 503 may be returned for failures, and 503 and 429 have `retry-after`. */
function checkErrorResponse({ status, headers, body }: ClientResponse, violation: (what: string) => void): void {
  if (status >= 500 && status !== 503) violation(`${status} ${body}`);
  if ((status === 503 || status === 429) && headers['retry-after'] === undefined)
    violation(`${status} without retry-after`);
  if (status < 400) return;
  const isProblem = headers['content-type'] === 'application/problem+json';
  if (!isProblem || (JSON.parse(body.toString()) as { status: number }).status !== status)
    violation(`${status} without a problem document: ${body}`);
}
