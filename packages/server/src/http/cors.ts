import type { IncomingMessage } from 'node:http';
import type { Route } from './route.ts';

/*
 * Any origin may call the interface: its tokens are sent by scripts that hold them, never by the browser on its own, so there
 * is nothing of the visitor's that another site could borrow. Credentials mode is not allowed.
 * https://fetch.spec.whatwg.org/#http-cors-protocol
 */

/** Whether a route is for scripts of any origin: not a page, and not what a browser's cookie opens. */
export function isForAnyOrigin({ access, page }: Pick<Route, 'access' | 'page'>): boolean {
  return page !== true && access.kind !== 'ownOrigin' && access.kind !== 'session';
}

/** On every answer but those for our own pages, whoever asks, so that no answer varies on `origin` (https://fetch.spec.whatwg.org/#cors-protocol-and-http-caches). */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [
    'etag',
    'retry-after',
    'x-request-id',
    'repr-digest',
    'content-range',
    'accept-ranges',
    'www-authenticate',
    'instrumented-functions',
    'instrument-total-functions',
    'instrument-added-imports',
    'instrument-notes',
    'tenon-version',
  ].join(', '),
} as const;

/** What a preflight is answered with. `authorization` must be named: a star doesn't cover it. */
export const preflightHeaders = {
  'access-control-allow-headers': [
    'authorization',
    'content-type',
    'if-match',
    'if-none-match',
    'if-range',
    'if-updated-since',
    'range',
    'traceparent',
    'tracestate',
    'x-request-id',
  ].join(', '),
  'access-control-max-age': '7200',
} as const;

/**
 * Whether a request comes from a page of our own, or from no browser at all. Browsers say where the page came from in
 * `sec-fetch-site` (over https, or on this machine), and send `origin` with whatever is no GET. What people type or
 * bookmark is `none`: that may read, and nothing else.
 */
export function isFromOwnPage(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  baseUrl: string,
): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return site === 'none' && (method === 'GET' || method === 'HEAD');
  const { origin, host } = headers;
  return (
    origin === undefined ||
    origin === new URL(baseUrl).origin ||
    origin === `http://${host}` ||
    origin === `https://${host}`
  );
}
