import type { IncomingMessage } from 'node:http';
import type { Route } from './route.ts';

/*
 * Any origin may call the API: scripts send its tokens explicitly, and the browser never does so on its own. Requests with credentials
 * mode are not allowed.
 * https://fetch.spec.whatwg.org/#http-cors-protocol
 */

/** Whether scripts of any origin may call a route: not pages, and not routes that accept a cookie. */
export function isForAnyOrigin({ access, page }: Pick<Route, 'access' | 'page'>): boolean {
  return page !== true && access.kind !== 'ownOrigin' && access.kind !== 'session';
}

/**
 * Sent with every response of these routes, even without an `origin`, so that responses don't vary on it.
 * https://fetch.spec.whatwg.org/#cors-protocol-and-http-caches
 */
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

/** Sent in response to a preflight. A wildcard would not include `authorization`. */
export const preflightHeaders = {
  'access-control-allow-headers': [
    'authorization',
    'content-type',
    'if-match',
    'if-none-match',
    'if-range',
    'if-updated-since',
    'range',
    'tenon-loaded',
    'traceparent',
    'tracestate',
    'x-request-id',
  ].join(', '),
  'access-control-max-age': '7200',
} as const;

/**
 * Whether a request comes from the server's own pages, or not from a browser. Browsers send the page's relation to the server in
 * `sec-fetch-site` (over https, or to localhost), and `origin` with every method except GET and HEAD. `none` means a typed or bookmarked
 * URL, which may only read.
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
