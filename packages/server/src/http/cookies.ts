import type { Services } from '../services.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';

/*
 * The session cookie, the cookie that identifies a known browser, and the one that binds a sign-in at a provider to the browser. All are
 * HttpOnly and SameSite=Lax. If the public URL is https, they are Secure and have the `__Host-` prefix, so that neither a sibling domain nor plain http can set them.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis
 */

/** `provider` ties a sign-in at a provider to the browser, and `signIn` a challenge for a passkey, or a sign-in without its second factor, to the browser. */
type CookieKind = 'session' | 'browser' | 'signIn' | 'provider';

/**
 * Returns the cookie's name: `__Host-tenon-session` over https, otherwise `tenon-session-8366` with the port of the base URL. All ports of a
 * host share their cookies (RFC 6265 §8.5), so without the port, several servers on one machine would overwrite each other's.
 */
export function cookieName(kind: CookieKind, baseUrl: string): string {
  const name = kind === 'signIn' ? 'sign-in' : kind;
  if (isSecure(baseUrl)) return `__Host-tenon-${name}`;
  const { port } = new URL(baseUrl);
  return port === '' ? `tenon-${name}` : `tenon-${name}-${port}`;
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}

/** Returns the value of a cookie; `undefined` if it is missing or repeated, since another site may have set the second one. */
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
