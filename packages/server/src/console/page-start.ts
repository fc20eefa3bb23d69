import { setTimeout as sleep } from 'node:timers/promises';
import type { PageStart } from '@tenon/protocol';
import { stateOf } from '../auth/session-state.ts';
import { findSession, issueSessionToken } from '../auth/sessions.ts';
import { readCookie } from '../http/cookies.ts';
import { isFromOwnPage } from '../http/cors.ts';
import type { Request } from '../http/request.ts';
import type { Services } from '../services.ts';

/** The lifetime of the token in a document. It is for the requests that the page makes as soon as it is open. */
const tokenLifetimeMs = 60_000;

/** How long a document waits for the store. */
const maxWaitMs = 500;

/**
 * Returns the data for the document of a page, so that the page's first request doesn't wait for the session and a token.
 *
 * @returns `undefined` if the browser is not signed in, the document is not for the user who opens it in a tab, or the store fails
 *   or is slow. The page then requests the session itself
 */
export async function readPageStart(services: Services, request: Request): Promise<PageStart | undefined> {
  if (!isOwnNavigation(services, request)) return undefined;
  const started = start(services, request).catch((error: unknown) => {
    services.log.warn({ err: error }, 'page start: no session for the document');
    return undefined;
  });
  return Promise.race([started, sleep(maxWaitMs, undefined, { ref: false })]);
}

/**
 * Whether a browser opens the document in a tab, for the user or from one of the server's pages: not for another site, a frame, a
 * script, or ahead of time. Requires the fields that browsers send over https and to localhost: https://www.w3.org/TR/fetch-metadata/
 */
function isOwnNavigation({ addresses }: Services, { method, headers, message }: Request): boolean {
  return (
    method === 'GET' &&
    headers['sec-fetch-site'] !== undefined &&
    isFromOwnPage(message, addresses.base()) &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    headers['sec-purpose'] === undefined
  );
}

async function start(services: Services, request: Request): Promise<PageStart | undefined> {
  const { deps, lastUsed, writes } = services;
  const session = await findSession(deps, readCookie(services, request, 'session'));
  if (session === undefined || writes.take(session.id) > 0) return undefined;
  lastUsed.note(session.id, session.userId, request.message);
  const { secret } = await issueSessionToken(deps, session, ['read'], tokenLifetimeMs);
  return { session: await stateOf(services, session), accessToken: secret };
}
