import type { Services } from '../services.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';

/*
 * Two cookies: the session's, and the one by which accounts know a browser again. Both are HttpOnly, which keeps them from
 * scripts, and SameSite=Lax. Where the server is reached over https they are Secure and have the `__Host-` prefix, so that
 * neither a sibling domain nor plain http can set them. https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis
 */

type CookieKind = 'session' | 'browser';

/**
 * The cookie's name: `__Host-tenon-session`, or `tenon-session-8366` where there is no TLS, with the port of the base URL if it
 * names one; `tenon-browser` alike. Cookies of one host are shared by all of its ports (RFC 6265 §8.5), and several servers on one machine
 * would otherwise sign each other's people out.
 */
export function cookieName(kind: CookieKind, baseUrl: string): string {
  if (isSecure(baseUrl)) return `__Host-tenon-${kind}`;
  const { port } = new URL(baseUrl);
  return port === '' ? `tenon-${kind}` : `tenon-${kind}-${port}`;
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}

/** A cookie of ours that a request carries; `undefined` for none, and for one that is there twice, of which one isn't ours. */
export function readCookie(services: Services, request: Request, kind: CookieKind): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const name = cookieName(kind, services.addresses.base());
  const found = cookie.split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.trim().split('=');
    return key === name ? [value.join('=')] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Sets a cookie of ours, which the browser forgets after the lifetime. */
export function setCookie(services: Services, reply: Reply, kind: CookieKind, value: string, lifetimeMs: number): void {
  const base = services.addresses.base();
  const attributes = [
    `${cookieName(kind, base)}=${value}`,
    'Path=/',
    `Max-Age=${Math.ceil(lifetimeMs / 1000)}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure(base) ? ['Secure'] : []),
  ];
  reply.cookie(attributes.join('; '));
}
