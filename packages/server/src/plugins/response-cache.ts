import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ContentAddress } from '@tenon/protocol';
import { type Actor, accessCacheTags, type ExtensionPointAccess } from '../auth/access.ts';
import type { CredentialId } from '../auth/authenticate.ts';
import { usedBy } from '../auth/authenticate-request.ts';
import { contentCacheTags } from '../auth/content-access.ts';
import type { CacheSpec } from '../cache/cache.ts';
import { type CacheTag, listTag } from '../cache/cache-tag.ts';
import type { CacheVersion } from '../cache/invalidation-log.ts';
import type { Deps } from '../deps.ts';
import { leaseFor } from '../http/bodies/body-room.ts';
import { type ConditionOutcome, evaluateConditions } from '../http/conditions.ts';
import { corsHeaders } from '../http/cors.ts';
import type { Services } from '../services.ts';
import { type BindingListResponse, bindingLists } from './bindings.ts';

/*
 * Hosts ask for the same binding lists and contents over and over, and nearly always nothing has changed. Who may read them follows from the
 * authorization field, the target and the stores. So the same request gets the same response for as long as neither the token, the
 * account, the application, the extension point nor what is read changes, and the token has not expired.
 */

/** What a request is answered with: a reference to another cache, so that the same bytes are counted once. */
type Resource =
  | { readonly kind: 'list'; readonly list: CacheTag }
  | { readonly kind: 'content'; readonly address: ContentAddress; readonly etag: string; readonly fields: string[] };

interface CachedResponse {
  readonly resource: Resource;
  /** The template of the route, for metrics and spans. */
  readonly route: string;
  readonly actor: Pick<Actor, 'userId' | 'expiresAtMs'>;
  readonly usedBy: CredentialId;
  readonly tags: readonly CacheTag[];
}

const spec: CacheSpec<CachedResponse> = {
  name: 'responses',
  tags: ({ tags }) => tags,
};

/** Longer keys than any host's are not cached, so that the size of an entry has a bound. */
const maxKeyLength = 1024;

/** Longer bodies count against the memory for bodies while they are sent: shorter ones fit into the socket's own buffers. */
const countedLength = 16 * 1024;

/** Responses of A2 are for the client's own caches, which ask each time. */
export const bindingListHeaders = { 'cache-control': 'private, no-cache', vary: 'authorization' } as const;

/** What every response from here has. */
const openFields = Object.entries({ 'x-content-type-options': 'nosniff', ...corsHeaders }).flat();
const listFields = [...openFields, ...Object.entries(bindingListHeaders).flat()];

/** A request, and when its caller was authorized. */
interface CacheableRequest {
  readonly authorization: string | undefined;
  /** As it was sent. */
  readonly target: string;
  readonly route: string;
  /** A moment before the caller was authorized. */
  readonly since: CacheVersion;
}

/** Caches which binding list a request is answered with. */
export function cacheBindings(
  deps: Deps,
  request: CacheableRequest,
  access: ExtensionPointAccess,
  guestKey: string,
): void {
  const list = listTag(access.extensionPoint.id, guestKey);
  store(deps, request, access.actor, accessCacheTags(access), { kind: 'list', list });
}

/**
 * Caches which content a request is answered with.
 *
 * @param headers what every response with the content has
 */
export function cacheContent(
  deps: Deps,
  request: CacheableRequest,
  actor: Actor,
  address: ContentAddress,
  headers: Readonly<Record<'etag', string> & Record<string, string>>,
): void {
  const fields = [...openFields, ...Object.entries(headers).flat()];
  store(deps, request, actor, contentCacheTags(actor), { kind: 'content', address, etag: headers.etag, fields });
}

function store(
  { cache }: Deps,
  request: CacheableRequest,
  { userId, expiresAtMs, ...actor }: Actor,
  tags: readonly CacheTag[],
  resource: Resource,
): void {
  const { authorization, target, route, since } = request;
  const key = keyOf(authorization, target);
  if (key === undefined) return;
  cache.of(spec).set(key, { resource, route, actor: { userId, expiresAtMs }, usedBy: usedBy(actor), tags }, since);
}

/** What a request is answered with, if it is cached and still holds. */
function getCached(
  { cache, clock }: Deps,
  authorization: string | undefined,
  target: string,
): CachedResponse | undefined {
  const key = keyOf(authorization, target);
  if (key === undefined) return undefined;
  const cached = cache.of(spec).get(key);
  return cached === undefined || cached.actor.expiresAtMs <= clock() ? undefined : cached;
}

/** The binding list that a request is answered with, if it is cached and still holds. */
export function getCachedBindings(
  deps: Deps,
  authorization: string | undefined,
  target: string,
): BindingListResponse | undefined {
  const resource = getCached(deps, authorization, target)?.resource;
  return resource?.kind === 'list' ? deps.cache.of(bindingLists).get(resource.list) : undefined;
}

/** Responds from the cache. @returns the template of the route; `undefined`, and nothing is done, when it can't */
export function respondFromCache(
  services: Services,
  message: IncomingMessage,
  response: ServerResponse,
  requestIdOf: (message: IncomingMessage) => string,
): string | undefined {
  const { headers, method, url = '' } = message;
  if ((method !== 'GET' && method !== 'HEAD') || headers.authorization === undefined || !isPlain(message))
    return undefined;
  try {
    const cached = getCached(services.deps, headers.authorization, url);
    if (cached === undefined || !respond(services, message, response, cached, requestIdOf)) return undefined;
    services.lastUsed.note(cached.usedBy);
    return cached.route;
  } catch {
    // A store that is away is asked again later in the pipeline, where its error can be answered.
    if (response.headersSent) response.destroy();
    return undefined;
  }
}

/**
 * Whether a request has none of the fields for which more than the authorization counts: what browsers send, whose host is checked, ranges,
 * and fields that must not be repeated and are.
 */
function isPlain({ headers, rawHeaders }: IncomingMessage): boolean {
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined || headers.cookie !== undefined)
    return false;
  if (headers.range !== undefined) return false;
  let fields = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length !== 4 && name.length !== 13) continue;
    const lowerCase = name.toLowerCase();
    if (lowerCase === 'host' || lowerCase === 'authorization') fields++;
  }
  return fields === 2;
}

function respond(
  services: Services,
  message: IncomingMessage,
  response: ServerResponse,
  { resource, actor }: CachedResponse,
  requestIdOf: (message: IncomingMessage) => string,
): boolean {
  if (resource.kind === 'list') {
    const list = services.deps.cache.of(bindingLists).get(resource.list);
    if (list === undefined) return false;
    const outcome = evaluateConditions(message.headers, list.etag);
    if (outcome === 'precondition_failed') return false;
    if (!takeRoom(services, message, response, outcome, list.json.length, actor.userId)) return false;
    sendBindings(services, message, response, requestIdOf(message), list, outcome);
    return true;
  }
  const outcome = evaluateConditions(message.headers, resource.etag);
  if (outcome !== undefined || message.method !== 'GET') return false;
  const content = services.contents.cached(resource.address);
  if (content === undefined || !takeRoom(services, message, response, outcome, content.length, actor.userId))
    return false;
  const fields = ['x-request-id', requestIdOf(message), ...resource.fields, ...services.transportSecurity];
  fields.push('content-length', String(content.length));
  response.writeHead(200, fields).end(content);
  return true;
}

/** Counts a long body against the memory for bodies. @returns whether there is room */
export function takeRoom(
  { bodyBudget }: Services,
  { method }: IncomingMessage,
  response: ServerResponse,
  outcome: ConditionOutcome,
  bytes: number,
  caller: string,
): boolean {
  if (outcome === 'not_modified' || method !== 'GET' || bytes <= countedLength) return true;
  return leaseFor(bodyBudget, caller, response).take(bytes);
}

/** Sends a binding list, or 304, whether it was cached or not. */
export function sendBindings(
  { transportSecurity }: Services,
  { method }: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  { json, etag, reprDigest }: BindingListResponse,
  outcome: ConditionOutcome,
): void {
  const fields = ['x-request-id', requestId, 'etag', etag, ...listFields, ...transportSecurity];
  if (outcome === 'not_modified') {
    response.writeHead(304, fields).end();
    return;
  }
  fields.push('repr-digest', reprDigest, 'content-type', 'application/json', 'content-length', String(json.length));
  response.writeHead(200, fields);
  if (method === 'HEAD') response.end();
  else response.end(json, 'latin1'); // as text it goes out in one write with the header
}

function keyOf(authorization: string | undefined, target: string): string | undefined {
  if (authorization === undefined || authorization.length + target.length > maxKeyLength) return undefined;
  return `${authorization} ${target}`;
}
