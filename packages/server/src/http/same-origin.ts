import type { IncomingHttpHeaders } from 'node:http';

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
