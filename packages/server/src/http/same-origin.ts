import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/**
 * Whether a form was sent from a page of our own. Browsers say so in `sec-fetch-site` where the page came over https or from
 * this machine, else in `origin`; with our pages' `referrer-policy: no-referrer` the latter is `null` even for our own forms,
 * so that alone proves nothing either way. A request with neither comes from no browser, hence from no other site's page.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  if (origin === undefined || origin === 'null') return true;
  return origin === new URL(baseUrl).origin || origin === `http://${host}` || origin === `https://${host}`;
}

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
