import type { Browser, StartedSession } from '../domain/sessions.ts';
import { knownBrowserLifetimeMs } from '../domain/sessions.ts';
import { networkOf } from './client-address.ts';
import type { Parts } from './parts.ts';
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
export function readCookie(parts: Parts, request: Request, kind: CookieKind): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const name = cookieName(kind, parts.addresses.base());
  const found = cookie.split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.trim().split('=');
    return key === name ? [value.join('=')] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/** What the domain knows of the browser that asks. */
export function browserOf(parts: Parts, request: Request): Browser {
  const address = parts.clients.of(request.message);
  return {
    userAgent: request.headers['user-agent'] ?? null,
    address,
    network: networkOf(address),
    sessionSecret: readCookie(parts, request, 'session'),
    browserSecret: readCookie(parts, request, 'browser'),
  };
}

/** Hands a new session's secrets to the browser. */
export function keepSession(parts: Parts, reply: Reply, started: StartedSession): void {
  const { session, sessionSecret, browserSecret } = started;
  setCookie(parts, reply, 'session', sessionSecret, session.expiresAtMs - parts.context.clock());
  setCookie(parts, reply, 'browser', browserSecret, knownBrowserLifetimeMs);
}

/** Has the browser forget its session; accounts go on knowing it. */
export function dropSession(parts: Parts, reply: Reply): void {
  setCookie(parts, reply, 'session', '', 0);
}

function setCookie(parts: Parts, reply: Reply, kind: CookieKind, value: string, lifetimeMs: number): void {
  const base = parts.addresses.base();
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
