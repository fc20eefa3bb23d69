import { networkOf } from '../http/client-address.ts';
import { readCookie, setCookie } from '../http/cookies.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Services } from '../services.ts';
import { type Browser, knownBrowserLifetimeMs, type StartedSession } from './sessions.ts';

/** What the domain knows of the browser that asks. */
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

/** Hands a new session's secrets to the browser. */
export function keepSession(services: Services, reply: Reply, started: StartedSession): void {
  const { session, sessionSecret, browserSecret } = started;
  setCookie(services, reply, 'session', sessionSecret, session.expiresAtMs - services.deps.clock());
  setCookie(services, reply, 'browser', browserSecret, knownBrowserLifetimeMs);
}

/** Has the browser forget its session; accounts go on knowing it. */
export function dropSession(services: Services, reply: Reply): void {
  setCookie(services, reply, 'session', '', 0);
}
