import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Precondition, requirePrecondition } from '../domain/precondition.ts';
import { evaluateConditions } from './conditions.ts';

/*
 * Resources that people edit have a strong entity tag, so that a `PUT` with `if-match` never overwrites a change that its
 * sender has not seen (RFC 9110 §13.1.1).
 */

/** For {@link RouteDoc}: the fields that a `GET` of such a resource honours and returns. */
export const readConditions = {
  requestHeaders: { 'if-none-match': 'entity tags of answers that you have' },
  headers: { etag: 'strong; changes whenever the resource does' },
} as const;

/** For {@link RouteDoc}: the fields that a `PUT` of such a resource honours and returns. */
export const writeConditions = {
  requestHeaders: { 'if-match': 'the entity tag that the change is based on; 412 when the resource has another one' },
  headers: { etag: 'strong; the tag after the change' },
} as const;

/**
 * Sends a resource as JSON with its entity tag. A `GET` or `HEAD` honours `if-match` and `if-none-match`.
 *
 * @throws DomainError `precondition_failed`
 */
export function sendRepresentation(request: FastifyRequest, reply: FastifyReply, resource: object): FastifyReply {
  const json = JSON.stringify(resource);
  const etag = etagOf(json);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const outcome = isRead ? evaluateConditions(request.headers, etag) : undefined;
  requirePrecondition(() => outcome !== 'precondition_failed', undefined);
  reply.header('etag', etag);
  if (outcome === 'not_modified') return reply.code(304).send();
  return reply.header('content-type', 'application/json; charset=utf-8').send(json);
}

/**
 * The precondition of a change: that the resource still has an entity tag which `if-match` names.
 *
 * @param toResource what `GET` sends of a state
 * @returns `undefined` when the request has none
 */
export function preconditionOf<State>(
  { headers }: Pick<FastifyRequest, 'headers'>,
  toResource: (state: State) => object,
): Precondition<State> | undefined {
  const ifMatch = headers['if-match'];
  if (ifMatch === undefined) return undefined;
  return (present) =>
    evaluateConditions({ 'if-match': ifMatch }, etagOf(JSON.stringify(toResource(present)))) === undefined;
}

function etagOf(json: string): string {
  return `"${hash('sha256', json, 'base64url').slice(0, 22)}"`;
}
