import type { IncomingMessage } from 'node:http';

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
