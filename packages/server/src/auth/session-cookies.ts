import { networkOf } from '../http/client-address.ts';
import { readCookie, setCookie } from '../http/cookies.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Parts } from '../services.ts';
import { type Browser, knownBrowserLifetimeMs, type StartedSession } from './sessions.ts';

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
