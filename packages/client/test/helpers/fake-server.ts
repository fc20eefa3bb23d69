import { createHash } from 'node:crypto';
import type { Client, ClientOptions } from '@tenon/client';
import { createClientOn } from '../../src/client.ts';
import type { Runtime } from '../../src/options.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';

export interface FakeRequest {
  /** With the query. */
  readonly path: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly init: RequestInit;
}

type Handler = (request: FakeRequest) => Response | Promise<Response>;

/** A `fetch` whose responses the test decides. */
export interface FakeServer {
  readonly fetch: typeof globalThis.fetch;
  readonly requests: FakeRequest[];
  /** Replaces the handler. */
  respond(handler: Handler): void;
}

export function createFakeServer(handler: Handler): FakeServer {
  const requests: FakeRequest[] = [];
  let current = handler;
  return {
    requests,
    respond(next) {
      current = next;
    },
    async fetch(input, init = {}) {
      const { pathname, search } = new URL(String(input));
      const request = {
        path: pathname + search,
        headers: new Headers(init.headers),
        signal: init.signal ?? new AbortController().signal,
        init,
      };
      requests.push(request);
      return current(request);
    },
  };
}

/** A response with a binding list. */
export function listResponse(list: Readonly<Record<string, unknown>>, etag?: string): Response {
  const text = JSON.stringify(list);
  return new Response(text, {
    headers: { 'content-type': 'application/json', etag: etag ?? `"${addressOfBytes(Buffer.from(text))}"` },
  });
}

/** A binding list, or 304 to a matching conditional request. */
export function conditionalResponse({ headers }: FakeRequest, list: Readonly<Record<string, unknown>>): Response {
  const answer = listResponse(list);
  const etag = answer.headers.get('etag') ?? '';
  return headers.get('if-none-match') === etag ? new Response(null, { status: 304, headers: { etag } }) : answer;
}

export function problemResponse(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = { type: 'about:blank', title: code, status, detail: `Because of ${code}.`, code };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  });
}

/** An entry of a binding list. */
export function entry(contentAddress: string, updatedAt = '2026-01-01T00:00:00.000Z') {
  return { id: 'ext_1/plugin/usr_1/p', contentAddress, updatedAt };
}

export function addressOfBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/** Rejects like `fetch` without a connection. */
export function noConnection(): never {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
}

export const key = { extensionPointId: 'ext_1', guestKey: 'acme/one' } as const;

/** A client with a manual clock, without randomness, streams and retries by default. */
export function openClient(server: FakeServer, options: Partial<ClientOptions> = {}, runtime: Partial<Runtime> = {}) {
  const clock: ManualClock = createManualClock();
  const client = createClientOn(
    {
      baseUrl: 'https://plugins.example/tenon',
      token: 'tnn_secret',
      fetch: server.fetch,
      retry: { maxRetries: 0 },
      streaming: false,
      ...options,
    },
    { clock, random: () => 0, ...runtime },
  );
  return { client, clock };
}

/** Records the events of a client. */
export function listenTo(client: Client) {
  const reported: { readonly type: string; readonly event: Record<string, unknown> }[] = [];
  for (const type of ['change', 'stale', 'recover', 'error', 'response', 'lookup'] as const) {
    client.on(type, (event) => reported.push({ type, event: event as never }));
  }
  return reported;
}
