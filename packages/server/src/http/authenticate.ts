import type { FastifyRequest } from 'fastify';
import { authorizeApp, authorizeExtensionPoint, demandScope, demandUserLevel } from '../domain/access.ts';
import { type AuthenticatedActor, authenticateApiKey, authenticateToken } from '../domain/authenticate.ts';
import { authorizeContent } from '../domain/content.ts';
import { DomainError } from '../domain/errors.ts';
import { HttpError } from './http-error.ts';
import type { Parts } from './parts.ts';
import type { Access, Admission } from './route.ts';

/**
 * Lets a caller in as the route's access says, or throws what it is refused with: 401, then 429, then 404, then 403.
 *
 * @throws DomainError
 */
export async function admit(parts: Parts, access: Access, request: FastifyRequest): Promise<Admission> {
  if (access.kind === 'public') return {};
  const { context } = parts;
  const secret = bearerToken(request.headers.authorization, request.raw.url ?? '');
  if (access.kind === 'apiKey') {
    const apiKey = await authenticateApiKey(context, secret);
    parts.uses.note(apiKey.id);
    countWrite(parts, request.method, apiKey.id);
    return { apiKey };
  }
  const actor = await authenticateToken(context, secret);
  parts.uses.note(actor.tokenId);
  countWrite(parts, request.method, actor.tokenId);
  const params = request.params as Readonly<Record<string, string>>;
  switch (access.kind) {
    case 'user':
      return admitUser(access, actor);
    case 'app':
      return { actor, access: await authorizeApp(context, actor, access.purpose, params.appId ?? '') };
    case 'extensionPoint': {
      const id = params.extensionPointId ?? '';
      return { actor, access: await authorizeExtensionPoint(context, actor, access.purpose, id) };
    }
    case 'content':
      return { actor, address: await authorizeContent(context, actor, params.contentAddress ?? '') };
  }
}

function admitUser(access: Access & { kind: 'user' }, actor: AuthenticatedActor): Admission {
  if (access.scope !== undefined) demandScope(actor, access.scope);
  if (access.userLevel === true) demandUserLevel(actor);
  return { actor };
}

/**
 * The token of an `authorization` field (RFC 6750 §2.1). The scheme's name may be in any case.
 *
 * @throws HttpError `missing_credentials`, or `invalid_request` for a token in the query, which logs would keep
 */
export function bearerToken(authorization: string | undefined, url: string): string {
  const match = authorization === undefined ? null : /^bearer +([^\s]+) *$/i.exec(authorization);
  const query = url.indexOf('?');
  if (query !== -1 && /[?&]access_token=/.test(url.slice(query))) {
    throw new DomainError('invalid_request', 'Send the token in the authorization field, never in the URL.');
  }
  if (match?.[1] !== undefined) return match[1];
  throw new HttpError('missing_credentials', 'Send "authorization: Bearer <token>".', {
    'www-authenticate': challenge(),
  });
}

/** A challenge as RFC 6750 §3 has it: without an error code where no credentials came. */
export function challenge(error?: 'invalid_token' | 'insufficient_scope'): string {
  return error === undefined ? 'Bearer realm="tenon"' : `Bearer realm="tenon", error="${error}"`;
}

function countWrite(parts: Parts, method: string, key: string): void {
  if (method === 'GET' || method === 'HEAD') return;
  const seconds = parts.writes.take(key);
  if (seconds > 0) throw rateLimited('This token makes too many changes.', seconds);
}

/** Too many requests of a kind; the client may come back after so many seconds. */
export function rateLimited(message: string, seconds: number): HttpError {
  const wait = `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return new HttpError('rate_limited', `${message} ${wait}`, { 'retry-after': String(seconds) });
}
