import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createFakeFeed, type FakeFeed } from './fake-feed.ts';
import { addressOf, type Module, moduleOf } from './modules.ts';

export type RequestKind = 'list' | 'content' | 'stream';

/** A response with a whole body. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A request that waits for its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** The correct response; of a stream, the response before its first event. */
  readonly answer: Answer;
  /** Sends a response. */
  readonly send: (answer: Answer) => void;
  /** Responds correctly. */
  readonly proceed: () => void;
}

/** Responds to a request instead of the server. */
export type Responder = (exchange: Exchange) => void;

/** A request that the server received. */
export interface ReceivedRequest {
  readonly kind: RequestKind;
  /** The guest key of a list, the address of content. */
  readonly name: string;
  readonly headers: IncomingMessage['headers'];
  /** By the monotonic clock. */
  readonly atMs: number;
}

export interface FakeServerOptions {
  readonly extensionPointId: string;
  readonly token: string;
  /** The path of the base URL, such as `/registry`. Default: none. */
  readonly basePath?: string | undefined;
  readonly nowMs: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
}

/** A server of binding lists, content and change events, whose responses a test case can replace. */
export interface FakeServer {
  /** The base URL. */
  readonly url: string;
  readonly extensionPointId: string;
  readonly feed: FakeFeed;
  /** All requests with valid paths, the oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** What clients must never do, in words. Any of it fails the case. */
  readonly violations: readonly string[];
  /** Creates a module that is bound nowhere. */
  createModule(bytes?: number): Module;
  /** The current list of a guest key. */
  listOf(guestKey: string): ReadonlyMap<string, Module>;
  /** Whether the name had this address in the list of this guest key at any time. */
  wasBound(guestKey: string, name: string, address: string): boolean;
  /** Binds modules, replacing the list, without an event. */
  setList(guestKey: string, list: ReadonlyMap<string, Module>): void;
  /** Replaces the text of all lists; `undefined` restores them. */
  setListText(text: string | undefined): void;
  /** Replaces the responses to the next requests of a kind. */
  replace(kind: RequestKind, responder: Responder, times?: number): void;
  /** Refuses connections. */
  goDown(): Promise<void>;
  /** Accepts connections again, on the same port. */
  comeUp(): Promise<void>;
  close(): Promise<void>;
}

export async function openFakeServer(options: FakeServerOptions): Promise<FakeServer> {
  const { basePath = '', nowMs } = options;
  const lists = new Map<string, ReadonlyMap<string, Module>>();
  const bound = new Set<string>();
  const contents = new Map<string, Module>();
  const requests: ReceivedRequest[] = [];
  const violations: string[] = [];
  const replaced: Record<RequestKind, Responder[]> = { list: [], content: [], stream: [] };
  const feed = createFakeFeed(options.extensionPointId);
  let listText: string | undefined;
  let server: Server;
  let port = 0;

  const prefix = `${basePath}/api/v1/`;
  const point = `${prefix}extension-points/${options.extensionPointId}/`;

  function kindOf(path: string): Pick<ReceivedRequest, 'kind' | 'name'> | undefined {
    if (path === `${point}changes`) return { kind: 'stream', name: '' };
    if (path.startsWith(`${point}bindings/`)) return { kind: 'list', name: decoded(path.slice(point.length + 9)) };
    const address = path.startsWith(`${prefix}c/`) ? path.slice(prefix.length + 2) : '';
    return /^[A-Za-z0-9_-]{43}$/.test(address) ? { kind: 'content', name: address } : undefined;
  }

  function answerTo({ kind, name }: Pick<ReceivedRequest, 'kind' | 'name'>, request: IncomingMessage): Answer {
    if (kind === 'stream') return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: empty };
    if (kind === 'list') return withCondition(request, listAnswer(listText ?? textOfList(lists.get(name))));
    const module = contents.get(name);
    if (module === undefined) return problem(404, 'not_found');
    return { status: 200, headers: { 'content-type': 'application/wasm', etag: `"${name}"` }, body: module.bytes };
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => {}); // a client that disconnects
    const path = request.url ?? '';
    const found = kindOf(path);
    if (found === undefined) violations.push(`it requested ${path}`);
    if (request.headers.authorization !== `Bearer ${options.token}`) {
      violations.push(`its request of ${path} had no header "authorization: Bearer <the token>"`);
    }
    if (found === undefined) {
      send(response, problem(404, 'not_found'));
      return;
    }
    requests.push({ ...found, headers: request.headers, atMs: nowMs() });
    const answer = answerTo(found, request);
    const proceed = () => {
      if (found.kind === 'stream') feed.open(request, response);
      else send(response, answer);
    };
    const { socket } = request;
    const responder = replaced[found.kind].shift();
    if (responder === undefined) proceed();
    else responder({ request, response, socket, answer, send: (other) => send(response, other), proceed });
  }

  async function listen(): Promise<void> {
    server = createServer(handle).listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }

  async function stop(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  await listen();
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    extensionPointId: options.extensionPointId,
    feed,
    requests,
    violations,
    createModule: (bytes = 2_000) => moduleOf(options.randomBytes(bytes)),
    listOf: (guestKey) => lists.get(guestKey) ?? new Map(),
    wasBound: (guestKey, name, address) => bound.has(JSON.stringify([guestKey, name, address])),
    setList(guestKey, list) {
      lists.set(guestKey, list);
      for (const [name, module] of list) {
        bound.add(JSON.stringify([guestKey, name, module.address]));
        contents.set(module.address, module);
      }
    },
    setListText(text) {
      listText = text;
    },
    replace(kind, responder, times = 1) {
      replaced[kind] = Array.from({ length: times }, () => responder);
    },
    goDown: stop,
    comeUp: listen,
    close: stop,
  };
}

const empty = Buffer.alloc(0);

/** A list as the server sends it. */
export function textOfList(list: ReadonlyMap<string, Module> = new Map()): string {
  const entries = [...list].map(([name, { address }]) => `${JSON.stringify(name)}:${textOfBinding(address)}`);
  return `{${entries.join(',')}}`;
}

export function textOfBinding(address: string): string {
  const id = `bnd_${address.slice(0, 26).toLowerCase()}`;
  return JSON.stringify({ id, contentAddress: address, updatedAt: '2026-01-02T03:04:05.678Z' });
}

function listAnswer(text: string): Answer {
  const body = Buffer.from(text);
  return { status: 200, headers: { 'content-type': 'application/json', etag: `"${addressOf(body)}"` }, body };
}

function withCondition({ headers }: IncomingMessage, answer: Answer): Answer {
  const { etag = '' } = answer.headers;
  return headers['if-none-match'] === etag ? { status: 304, headers: { etag }, body: empty } : answer;
}

/** A problem document. */
export function problem(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = Buffer.from(JSON.stringify({ type: 'about:blank', title: 'Failed', status, code }));
  return { status, headers: { 'content-type': 'application/problem+json', ...headers }, body };
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  const hasBody = status !== 304;
  response.writeHead(status, { ...headers, ...(hasBody && { 'content-length': body.length }) });
  response.end(hasBody ? body : undefined);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
