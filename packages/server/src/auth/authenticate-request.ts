import type { IncomingMessage } from 'node:http';
import type { SessionId, TokenId } from '@tenon/protocol';
import { readCookie } from '../http/cookies.ts';
import { isFromOwnPage } from '../http/cors.ts';
import { DomainError, TooManyAttemptsError } from '../http/domain-errors.ts';
import { challenge, HttpError } from '../http/http-error.ts';
import { hasRepeatedField, type Request } from '../http/request.ts';
import type { Access, AuthContext } from '../http/route.ts';
import type { Services } from '../services.ts';
import { type Actor, authorizeApp, authorizeExtensionPoint, requireScope, requireUnrestrictedToken } from './access.ts';
import { authenticateApiKey, authenticateToken, type CredentialId } from './authenticate.ts';
import { authorizeContent } from './content-access.ts';
import { requireOperator } from './operators.ts';
import { authenticateSession } from './sessions.ts';

/**
 * Lets a caller in as the route's access says, or throws what it is refused with: 401, then 429, then 404, then 403.
 *
 * @param isAgain when the same request was let in before: it isn't counted once more
 * @throws DomainError
 */
export async function authorizeRequest(
  services: Services,
  access: Access,
  request: Request,
  isAgain = false,
): Promise<AuthContext> {
  if (access.kind === 'public') return {};
  const { deps } = services;
  if (access.kind === 'ownOrigin' || access.kind === 'session') {
    requireOwnPage(services, request);
    if (access.kind === 'ownOrigin') return {};
    const session = await authenticateSession(deps, readCookie(services, request, 'session'));
    if (!isAgain) count(services, request.method, session.id);
    return { session };
  }
  const secret = bearerToken(request.message, request.target);
  if (access.kind === 'apiKey') {
    const apiKey = await authenticateApiKey(deps, secret);
    if (!isAgain) count(services, request.method, apiKey.id);
    return { apiKey };
  }
  const actor = await authenticateToken(deps, secret);
  if (!isAgain) count(services, request.method, usedBy(actor));
  const params = request.params as Readonly<Record<string, string>>;
  switch (access.kind) {
    case 'user':
      return admitUser(services, access, actor);
    case 'app':
      return { actor, access: await authorizeApp(deps, actor, access.purpose, params.appId ?? '') };
    case 'extensionPoint': {
      const id = params.extensionPointId ?? '';
      return { actor, access: await authorizeExtensionPoint(deps, actor, access.purpose, id) };
    }
    case 'content':
      return { actor, address: await authorizeContent(deps, actor, params.contentAddress ?? '') };
  }
}

/**
 * Browsers add a cookie to whatever any site sends here: these routes act for our own pages alone.
 *
 * @throws DomainError `cross_site_request`
 */
function requireOwnPage(services: Services, request: Request): void {
  if (isFromOwnPage(request.message, services.addresses.base())) return;
  throw new DomainError(
    'cross_site_request',
    'A page of another site sent this. Open this server itself and act there.',
  );
}

/** What a use by the actor is noted and counted under: pages share their session, whichever token they have at the moment. */
export function usedBy({ tokenId, sessionId }: Pick<Actor, 'tokenId' | 'sessionId'>): TokenId | SessionId {
  return sessionId ?? tokenId;
}

async function admitUser(
  { deps }: Services,
  access: Access & { kind: 'user' },
  actor: Actor,
): Promise<AuthContext<typeof access>> {
  if (access.scope !== undefined) requireScope(actor, access.scope);
  if (access.userLevel === true) requireUnrestrictedToken(actor);
  if (access.operator === true) await requireOperator(deps.store.read, actor);
  return { actor };
}

/**
 * The token of the `authorization` field (RFC 6750 §2.1). The scheme's name may be in any case.
 *
 * @param target the request's, as it was sent
 * @throws HttpError `missing_credentials`; or `invalid_request` for a token in the query, which logs would keep, and for more
 *   than one `authorization` field, of which a proxy may have checked another one than we would
 */
function bearerToken(message: IncomingMessage, target: string): string {
  const { authorization } = message.headers;
  const match = authorization === undefined ? null : /^bearer +([^\s]+) *$/i.exec(authorization);
  const query = target.indexOf('?');
  if (query !== -1 && /[?&]access_token=/.test(target.slice(query))) {
    throw new DomainError('invalid_request', 'Send the token in the authorization field, never in the URL.');
  }
  // RFC 6750 §2: no more than one way in a request
  if (hasRepeatedField(message, 'authorization')) {
    throw new DomainError('invalid_request', 'Send one authorization field, not several.');
  }
  if (match?.[1] !== undefined) return match[1];
  throw new HttpError('missing_credentials', 'Send "authorization: Bearer <token>".', {
    'www-authenticate': challenge(),
  });
}

function count(services: Services, method: string, key: CredentialId): void {
  services.lastUsed.note(key);
  if (method === 'GET' || method === 'HEAD') return;
  const seconds = services.writes.take(key);
  if (seconds > 0)
    throw new TooManyAttemptsError('Too many changes are made with this token, or in this browser.', seconds);
}
