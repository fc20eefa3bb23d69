import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Actor, accessCacheTags, type ExtensionPointAccess } from '../domain/access.ts';
import { type BindingListResponse, getCachedBindings } from '../domain/bindings.ts';
import type { Context } from '../domain/context.ts';
import type { MemoryKind } from '../domain/memories/memories.ts';
import { listSubject, type Subject } from '../domain/memories/subject.ts';
import type { Moment } from '../domain/memories/touch-log.ts';
import { hasRepeatedField, usedBy } from './authenticate.ts';
import { leaseFor } from './body-room.ts';
import { type ConditionOutcome, evaluateConditions } from './conditions.ts';
import { corsHeaders } from './cors.ts';
import { showsBrowser, transportSecurity } from './known-hosts.ts';
import type { Parts } from './parts.ts';

/*
 * Hosts ask for the same binding lists over and over, and nearly always nothing has changed. Who may read a list follows from the
 * authorization field, the target and the stores. So the same request gets the same list for as long as neither the token, the
 * account, the application, the extension point nor the list changes, and the token has not expired.
 */

/** Which list a request is answered with. */
interface CachedResponse {
  /** Refers to the list in its own cache, so that the same bytes are counted once. */
  readonly list: Subject;
  readonly actor: Pick<Actor, 'userId' | 'tokenId' | 'sessionId' | 'expiresAtMs'>;
  readonly subjects: readonly Subject[];
}

const kind: MemoryKind<CachedResponse> = {
  name: 'binding lists by request',
  subjects: ({ subjects }) => subjects,
};

/** Longer keys than any host's are not cached, so that the size of an entry has a bound. */
const maxKeyLength = 1024;

/** Longer lists count against the memory for bodies while they are sent. */
const countedLength = 16 * 1024;

/** Responses of A2 are for the client's own caches, which ask each time. */
export const bindingListHeaders = { 'cache-control': 'private, no-cache', vary: 'authorization' } as const;

const constantFields = Object.entries({
  'x-content-type-options': 'nosniff',
  ...corsHeaders,
  ...bindingListHeaders,
}).flat();

/** What the cache tells requests apart by. */
interface RequestKey {
  readonly authorization: string | undefined;
  /** As it was sent. */
  readonly target: string;
}

/**
 * Caches which list a request is answered with.
 *
 * @param since a moment before the request was authorized
 */
export function cacheResponse(
  { memories }: Context,
  request: RequestKey,
  guestKey: string,
  access: ExtensionPointAccess,
  since: Moment,
): void {
  const key = keyOf(request);
  if (key === undefined) return;
  const { actor, extensionPoint } = access;
  const list = listSubject(extensionPoint.id, guestKey);
  memories.of(kind).set(key, { list, actor, subjects: accessCacheTags(access) }, since);
}

/** The list that a request is answered with, if it is cached and still holds. */
export function getCachedResponse(
  context: Context,
  request: RequestKey,
): { readonly answer: BindingListResponse; readonly actor: CachedResponse['actor'] } | undefined {
  const key = keyOf(request);
  if (key === undefined) return undefined;
  const cached = context.memories.of(kind).get(key);
  if (cached === undefined || cached.actor.expiresAtMs <= context.clock()) return undefined;
  const answer = getCachedBindings(context, cached.list);
  return answer && { answer, actor: cached.actor };
}

/** Responds from the cache; `false`, and nothing is done, when it can't. */
export function respondFromCache(
  parts: Parts,
  message: IncomingMessage,
  response: ServerResponse,
  requestIdOf: (message: IncomingMessage) => string,
): boolean {
  const { headers, method, url: target = '' } = message;
  if (method !== 'GET' && method !== 'HEAD') return false;
  // The host of what browsers send is checked later.
  if (showsBrowser(message) || headers.cookie !== undefined) return false;
  const cached = tryCache(parts.context, { authorization: headers.authorization, target });
  if (cached === undefined) return false;
  const { answer, actor } = cached;
  const outcome = evaluateConditions(headers, answer.etag);
  if (outcome === 'precondition_failed') return false;
  if (hasRepeatedField(message, 'authorization') || hasRepeatedField(message, 'host')) return false;
  // Without room for a long list, the error comes later.
  if (sendsLong(message, answer, outcome) && !takeRoom(parts, actor.userId, response, answer)) return false;
  parts.uses.note(usedBy(actor));
  sendBindings(parts, message, response, requestIdOf(message), answer, outcome);
  return true;
}

/** Whether a response counts against the memory for bodies: a short one fits into the socket's own buffers. */
export function sendsLong(
  { method }: IncomingMessage,
  { json }: BindingListResponse,
  outcome: ConditionOutcome,
): boolean {
  return outcome !== 'not_modified' && method === 'GET' && json.length > countedLength;
}

export function takeRoom(
  { bodyBudget }: Parts,
  caller: string,
  response: ServerResponse,
  { json }: BindingListResponse,
): boolean {
  return leaseFor(bodyBudget, caller, response).take(json.length);
}

/** Sends a binding list, or 304, whether it was cached or not. */
export function sendBindings(
  { addresses }: Parts,
  { method }: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  { json, etag, reprDigest }: BindingListResponse,
  outcome: ConditionOutcome,
): void {
  const fields = ['x-request-id', requestId, 'etag', etag, ...constantFields];
  if (addresses.base().startsWith('https:')) fields.push(...transportSecurity);
  if (outcome === 'not_modified') {
    response.writeHead(304, fields).end();
    return;
  }
  fields.push('repr-digest', reprDigest, 'content-type', 'application/json', 'content-length', String(json.length));
  response.writeHead(200, fields);
  if (method === 'HEAD') response.end();
  else response.end(json, 'latin1'); // as text it goes out in one write with the header
}

/** A store that is away is asked again later in the pipeline, where its error can be answered; thrown here it would end the process. */
function tryCache(context: Context, request: RequestKey): ReturnType<typeof getCachedResponse> {
  try {
    return getCachedResponse(context, request);
  } catch {
    return undefined;
  }
}

function keyOf({ authorization, target }: RequestKey): string | undefined {
  if (authorization === undefined || authorization.length + target.length > maxKeyLength) return undefined;
  return `${authorization} ${target}`;
}
