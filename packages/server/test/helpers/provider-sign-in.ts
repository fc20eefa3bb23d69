import assert from 'node:assert/strict';
import type { Jar } from './jar.ts';
import type { Grant, TestIssuer } from './oidc-issuer.ts';

export interface ProviderTrip {
  readonly grant?: Grant;
  /** `/link` or `/confirm`; by default a sign-in. */
  readonly path?: string;
  readonly provider?: string;
  /** The codes of a sign-up. */
  readonly body?: object;
}

/** Starts a sign-in; returns the URL at the provider. */
export async function startTrip(jar: Jar, { path = '', provider = 'corp', body = {} }: ProviderTrip = {}) {
  const response = await jar.call('POST', `/session/oidc/${provider}${path}`, body);
  assert.equal(response.statusCode, 200, response.payload);
  return response.json<{ redirectTo: string }>().redirectTo;
}

/** The browser comes back from the provider; returns the parameters of the page that it is sent to. */
export async function endTrip(jar: Jar, query: URLSearchParams, provider = 'corp'): Promise<URLSearchParams> {
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  const response = await jar.call('GET', `/session/oidc/${provider}/callback?${query}`, undefined, headers);
  assert.equal(response.statusCode, 303, response.payload);
  const { pathname, searchParams } = new URL(String(response.headers.location));
  assert.ok(pathname.endsWith('/sign-in'));
  return searchParams;
}

/** Goes to the provider and back; returns why the sign-in was refused, if it was. */
export async function travel(issuer: TestIssuer, jar: Jar, trip: ProviderTrip = {}): Promise<string | null> {
  const query = issuer.authorize(await startTrip(jar, trip), trip.grant);
  return (await endTrip(jar, query, trip.provider)).get('refused');
}
