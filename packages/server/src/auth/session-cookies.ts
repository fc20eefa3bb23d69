import { networkOf } from '../http/client-address.ts';
import { readCookie, setCookie } from '../http/cookies.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Services } from '../services.ts';
import { type Browser, knownBrowserLifetimeMs, type StartedSession } from './sessions.ts';

/** Returns the browser of a request. */
export function browserOf(services: Services, request: Request): Browser {
  const address = services.clients.of(request.message);
  return {
    userAgent: request.headers['user-agent'] ?? null,
    address,
    network: networkOf(address),
    sessionSecret: readCookie(services, request, 'session'),
    browserSecret: readCookie(services, request, 'browser'),
  };
}

/** Sets the cookies of a new session. */
export function setSessionCookies(services: Services, reply: Reply, started: StartedSession): void {
  const { session, sessionSecret, browserSecret } = started;
  setCookie(services, reply, 'session', sessionSecret, session.expiresAtMs - services.deps.clock());
  setCookie(services, reply, 'browser', browserSecret, knownBrowserLifetimeMs);
}

/** Removes the session cookie. The browser stays known to its accounts. */
export function removeSessionCookie(services: Services, reply: Reply): void {
  setCookie(services, reply, 'session', '', 0);
}
