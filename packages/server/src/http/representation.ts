import { hash } from 'node:crypto';
import { evaluateConditions } from './conditions.ts';
import { encodedEtags } from './content-encoding.ts';
import { type Precondition, requirePrecondition } from './domain-errors.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';
import { json } from './route.ts';

/*
 * Editable resources have a strong entity tag, so that a `PUT` with `if-match` never overwrites a concurrent change (RFC 9110 §13.1.1).
 */

/** The part of a route declaration for `GET` of such a resource. */
export function conditionalRead(...[description, schema, example]: Parameters<typeof json>) {
  const success = json(description, schema, example, { etag: 'strong; changes whenever the resource changes' });
  return {
    requestHeaders: { 'if-none-match': 'the entity tags that you have cached' },
    responses: { 200: success, 304: { description: 'not modified' } },
    errors: ['precondition_failed'],
  } as const;
}

/** The part of a route declaration for `PUT` of such a resource. */
export const conditionalWrite = {
  requestHeaders: { 'if-match': 'the entity tag on which the change is based; 412 if the resource has another one' },
  headers: { etag: 'strong; the tag after the change' },
} as const;

/**
 * Sends a resource as JSON with its entity tag. A `GET` or `HEAD` honours `if-match` and `if-none-match`.
 *
 * @param more fields of this response only, which are not part of the resource
 * @throws DomainError `precondition_failed`
 */
export function sendRepresentation(request: Request, reply: Reply, resource: object, more?: object): Reply {
  const json = JSON.stringify(resource);
  const etag = etagOf(json);
  const tags = encodedEtags(etag);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const outcomes = tags.map((tag) => (isRead ? evaluateConditions(request.headers, tag) : undefined));
  requirePrecondition(() => outcomes.some((outcome) => outcome !== 'precondition_failed'), undefined);
  const cachedIndex = outcomes.indexOf('not_modified');
  if (cachedIndex === -1)
    return reply.header('etag', etag).json(more === undefined ? json : JSON.stringify({ ...resource, ...more }));
  return reply.code(304).headers({ etag: tags[cachedIndex] ?? etag, vary: 'accept-encoding' });
}

/**
 * Returns the precondition of a change: the resource still has an entity tag from `if-match`.
 *
 * @param toResource converts a state to the body of `GET`
 * @returns `undefined` if the request has no `if-match`
 */
export function preconditionOf<State>(
  { headers }: Pick<Request, 'headers'>,
  toResource: (state: State) => object,
): Precondition<State> | undefined {
  const ifMatch = headers['if-match'];
  if (ifMatch === undefined) return undefined;
  return (present) =>
    encodedEtags(etagOf(JSON.stringify(toResource(present)))).some(
      (tag) => evaluateConditions({ 'if-match': ifMatch }, tag) === undefined,
    );
}

function etagOf(json: string): string {
  return `"${hash('sha256', json, 'base64url').slice(0, 22)}"`;
}
