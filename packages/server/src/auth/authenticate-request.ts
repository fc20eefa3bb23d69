import type { IncomingMessage } from 'node:http';
import { fromOciName, type SessionId, type TokenId, type UserId } from '@tenon/protocol';
import { readCookie } from '../http/cookies.ts';
import { isFromOwnPage } from '../http/cors.ts';
import { DomainError, notFound, TooManyAttemptsError } from '../http/domain-errors.ts';
import { challenge, HttpError } from '../http/http-error.ts';
import { hasRepeatedField, type Request } from '../http/request.ts';
import type { Access, AuthContext } from '../http/route.ts';
import type { Services } from '../services.ts';
import { type Actor, authorizeApp, authorizeExtensionPoint, requireScope, requireUnrestrictedToken } from './access.ts';
import { authenticateApiKey, authenticateToken, invalidToken } from './authenticate.ts';
import { authorizeContent } from './content-access.ts';
import type { CredentialId } from './last-used-log.ts';
import { requireOperator } from './operators.ts';
import { authenticateSession } from './sessions.ts';
import { isRestricted, isWithinRestriction, outsideRestriction } from './token-restriction.ts';

/**
 * Authorizes a request by the access rule of its route. Checks in the order 401, 429, 404, 403.
 *
 * @param isAgain whether the same request was authorized before. Rate limits don't count it again
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
    if (!isAgain) count(services, request, session.id, session.userId);
    return { session };
  }
  const secret = bearerToken(request.message, request.target);
  if (access.kind === 'apiKey') {
    const apiKey = await authenticateApiKey(deps, secret);
    if (!isAgain) count(services, request, apiKey.id, apiKey.userId);
    return { apiKey };
  }
  const actor = await authenticateActor(services, request, secret);
  if (!isAgain) count(services, request, credentialOf(actor), actor.userId);
  const params = request.params as Readonly<Record<string, string>>;
  switch (access.kind) {
    case 'user':
      return authorizeUser(services, access, actor);
    case 'app':
      return { actor, access: await authorizeApp(deps, actor, access.purpose, params.appId ?? '') };
    case 'extensionPoint': {
      const id = params.extensionPointId ?? '';
      return { actor, access: await authorizeExtensionPoint(deps, actor, access.purpose, id, params) };
    }
    case 'repository':
      return authorizeRepository(deps, access, actor, params);
    case 'content':
      return { actor, address: await authorizeContent(deps, actor, params.contentAddress ?? '') };
  }
}

/** @throws DomainError as {@link authenticateToken} */
async function authenticateActor(services: Services, { message }: Request, secret: string): Promise<Actor> {
  const actor = await authenticateToken(services.deps, secret);
  // A token that is used from another network is rejected like an unknown one, and its use isn't noted.
  if (actor.networks?.has(services.clients.of(message)) === false) throw invalidToken();
  return actor;
}

/** The longest `authorization` field with basic credentials, in characters. */
const maxBasicLength = 2000;

/**
 * Authenticates basic credentials (RFC 7617) whose password is an access token. The user name doesn't matter.
 *
 * @returns `undefined` without basic credentials
 * @throws DomainError as {@link authenticateToken}, `invalid_request` for several `authorization` fields
 */
export async function authenticateBasic(
  services: Services,
  request: Request,
): Promise<{ readonly actor: Actor; readonly secret: string } | undefined> {
  const { authorization = '' } = request.headers;
  requireOneAuthorization(request.message);
  const [, encoded] = authorization.length > maxBasicLength ? [] : (/^basic +([^\s]+) *$/i.exec(authorization) ?? []);
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, 'base64').toString();
  const secret = credentials.slice(credentials.indexOf(':') + 1);
  return { actor: await authenticateActor(services, request, secret), secret };
}

/** Authorizes an actor for the plugin of an OCI repository: `<application>/<extension point>/<publisher>/<plugin>`. */
async function authorizeRepository(
  deps: Services['deps'],
  { purpose }: Access & { kind: 'repository' },
  actor: Actor,
  { appId, extensionPointId = '', userId = '', repository = '' }: Readonly<Record<string, string>>,
): Promise<AuthContext<Access & { kind: 'repository' }>> {
  const name = fromOciName(repository) ?? '';
  const path = { userId, pluginName: name };
  // Repositories outside the token's restriction don't exist, as those of other users.
  if (!isWithinRestriction(actor, purpose, extensionPointId, path)) throw notFound('extension point');
  const access = await authorizeExtensionPoint(deps, actor, purpose, extensionPointId, path);
  if (access.app.id !== appId) throw notFound('application');
  return { actor, access, target: { userId, name } };
}

/**
 * Requires that a page of this server sent the request, because browsers add cookies to the requests of other sites too.
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

/** Returns the credential for rate limits and the "last used" time. The tokens of a browser's session count as the session. */
export function credentialOf({ tokenId, sessionId }: Pick<Actor, 'tokenId' | 'sessionId'>): TokenId | SessionId {
  return sessionId ?? tokenId;
}

async function authorizeUser(
  { deps }: Services,
  access: Access & { kind: 'user' },
  actor: Actor,
): Promise<AuthContext<typeof access>> {
  if (access.scope !== undefined) requireScope(actor, access.scope);
  if (access.userLevel === true) requireUnrestrictedToken(actor);
  // A restricted token can only read itself and revoke itself.
  if (access.scope !== undefined && isRestricted(actor)) throw outsideRestriction();
  if (access.operator === true) await requireOperator(deps.store.read, actor);
  return { actor };
}

/**
 * Returns the token of the `authorization` field (RFC 6750 §2.1). The scheme is case-insensitive.
 *
 * @param target the unchanged request target
 * @throws HttpError `missing_credentials`; `invalid_request` for a token in the query, which logs would contain, and for several
 *   `authorization` fields, of which a proxy may have checked another one
 */
function bearerToken(message: IncomingMessage, target: string): string {
  const { authorization } = message.headers;
  const match = authorization === undefined ? null : /^bearer +([^\s]+) *$/i.exec(authorization);
  const query = target.indexOf('?');
  if (query !== -1 && /[?&]access_token=/.test(target.slice(query))) {
    throw new DomainError('invalid_request', 'Send the token in the authorization field, never in the URL.');
  }
  requireOneAuthorization(message);
  if (match?.[1] !== undefined) return match[1];
  throw new HttpError('missing_credentials', 'Send "authorization: Bearer <token>".', {
    'www-authenticate': challenge(),
  });
}

/** RFC 6750 §2: a client must not use more than one method in a request. @throws DomainError `invalid_request` */
function requireOneAuthorization(message: IncomingMessage): void {
  if (!hasRepeatedField(message, 'authorization')) return;
  throw new DomainError('invalid_request', 'Send one authorization field, not several.');
}

function count(services: Services, { method, message }: Request, key: CredentialId, userId: UserId): void {
  services.lastUsed.note(key, userId, message);
  if (method === 'GET' || method === 'HEAD') return;
  const seconds = services.writes.take(key);
  if (seconds > 0)
    throw new TooManyAttemptsError('Too many changes are made with this token, or in this browser.', seconds);
}
