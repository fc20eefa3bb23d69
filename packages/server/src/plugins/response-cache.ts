import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ContentAddress } from '@tenon/protocol';
import { type Actor, accessCacheTags, type ExtensionPointAccess } from '../auth/access.ts';
import { credentialOf } from '../auth/authenticate-request.ts';
import { contentCacheTags } from '../auth/content-access.ts';
import type { CredentialId } from '../auth/last-used-log.ts';
import type { CacheSpec } from '../cache/cache.ts';
import { type CacheTag, listTag } from '../cache/cache-tag.ts';
import type { CacheVersion } from '../cache/invalidation-log.ts';
import type { Deps } from '../deps.ts';
import { leaseFor } from '../http/bodies/body-room.ts';
import { type ConditionOutcome, evaluateConditions } from '../http/conditions.ts';
import { corsHeaders } from '../http/cors.ts';
import type { Services, UsageCell } from '../services.ts';
import { type BindingListResponse, bindingLists } from './bindings.ts';

/*
 * Hosts repeat the same requests for binding lists (A2) and contents (A3), and the response rarely changes. The `authorization` header, the
 * target and the stores alone determine it, apart from the networks that a token is restricted to, which each request is compared with. So the cache serves repeated requests until the token expires, or until the token,
 * the account, the application, the extension point, or the list or content changes.
 */

/** The body of a cached response: a reference to another cache, which has the bytes. */
type Resource =
  | { readonly kind: 'list'; readonly list: CacheTag }
  | { readonly kind: 'content'; readonly address: ContentAddress; readonly etag: string; readonly fields: string[] };

interface CachedResponse {
  readonly resource: Resource;
  /** The route's path template, for metrics and spans. */
  readonly route: string;
  readonly actor: Pick<Actor, 'userId' | 'expiresAtMs' | 'networks'>;
  readonly credential: CredentialId;
  readonly tags: readonly CacheTag[];
  /** Counts its requests. */
  readonly usage: UsageCell | undefined;
}

const responses: CacheSpec<CachedResponse> = {
  name: 'responses',
  tags: ({ tags }) => tags,
};

/** Longer keys are not cached, which limits the size of an entry. Real hosts' keys are shorter. */
const maxKeyLength = 1024;

/** Longer bodies use the body budget while they are sent. Shorter ones fit into the socket's buffers. */
const maxUnbudgetedBytes = 16 * 1024;

/** Only the client's own cache may store an A2 response, and it must revalidate it each time. */
export const bindingListHeaders = { 'cache-control': 'private, no-cache', vary: 'authorization' } as const;

const commonFields = Object.entries({ 'x-content-type-options': 'nosniff', ...corsHeaders }).flat();
const listFields = [...commonFields, ...Object.entries(bindingListHeaders).flat()];

/** An authorized request. */
interface CacheableRequest {
  readonly authorization: string | undefined;
  /** The undecoded request target. */
  readonly target: string;
  readonly route: string;
  /** The cache version before the authorization. */
  readonly since: CacheVersion;
  /** Counts its requests, and equal ones. */
  readonly usage?: UsageCell | undefined;
}

/** Caches that a request's response is a binding list. */
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
 * Caches that a request's response is a content.
 *
 * @param headers the response headers of the content
 */
export function cacheContent(
  deps: Deps,
  request: CacheableRequest,
  actor: Actor,
  address: ContentAddress,
  headers: Readonly<Record<'etag', string> & Record<string, string>>,
): void {
  const fields = [...commonFields, ...Object.entries(headers).flat()];
  store(deps, request, actor, contentCacheTags(actor), { kind: 'content', address, etag: headers.etag, fields });
}

function store(
  { cache }: Deps,
  request: CacheableRequest,
  { userId, expiresAtMs, networks, ...actor }: Actor,
  tags: readonly CacheTag[],
  resource: Resource,
): void {
  const { authorization, target, route, since, usage } = request;
  const key = keyOf(authorization, target);
  if (key === undefined) return;
  cache
    .of(responses)
    .set(
      key,
      { resource, route, actor: { userId, expiresAtMs, networks }, credential: credentialOf(actor), tags, usage },
      since,
    );
}

function getCached(
  { cache, clock }: Deps,
  authorization: string | undefined,
  target: string,
): CachedResponse | undefined {
  const key = keyOf(authorization, target);
  if (key === undefined) return undefined;
  const cached = cache.of(responses).get(key);
  return cached === undefined || cached.actor.expiresAtMs <= clock() ? undefined : cached;
}

/** Returns the cached binding list for a request. */
export function getCachedBindings(
  deps: Deps,
  authorization: string | undefined,
  target: string,
): BindingListResponse | undefined {
  const resource = getCached(deps, authorization, target)?.resource;
  return resource?.kind === 'list' ? deps.cache.of(bindingLists).get(resource.list) : undefined;
}

/** Sends the cached response to a request, if there is one. Returns the route's path template, or `undefined` if nothing was sent. */
export function respondFromCache(
  services: Services,
  message: IncomingMessage,
  response: ServerResponse,
  requestIdOf: (message: IncomingMessage) => string,
): string | undefined {
  const { headers, method, url = '' } = message;
  if ((method !== 'GET' && method !== 'HEAD') || headers.authorization === undefined || !isCacheable(message))
    return undefined;
  try {
    const cached = getCached(services.deps, headers.authorization, url);
    // The rest of the pipeline rejects a token that is used from another network.
    if (cached?.actor.networks?.has(services.clients.of(message)) === false) return undefined;
    if (cached === undefined || !respond(services, message, response, cached, requestIdOf)) return undefined;
    services.lastUsed.note(cached.credential, cached.actor.userId, message);
    if (cached.usage !== undefined && method === 'GET') services.usage.note(cached.usage, headers);
    return cached.route;
  } catch {
    // If a store is unavailable, the rest of the pipeline reads it again and sends the error response.
    if (response.headersSent) response.destroy();
    return undefined;
  }
}

/**
 * Whether only the target and the `authorization` header determine the response. This is not so for browsers' requests, whose origin the
 * server checks, for ranges, and for requests that repeat `host` or `authorization`, which the server rejects.
 */
function isCacheable({ headers, rawHeaders }: IncomingMessage): boolean {
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
    if (!reserveBodyMemory(services, message, response, outcome, list.json.length, actor.userId)) return false;
    sendBindings(services, message, response, requestIdOf(message), list, outcome);
    return true;
  }
  const outcome = evaluateConditions(message.headers, resource.etag);
  if (outcome !== undefined || message.method !== 'GET') return false;
  const content = services.contents.cached(resource.address);
  if (content === undefined) return false;
  if (!reserveBodyMemory(services, message, response, outcome, content.length, actor.userId)) return false;
  const fields = ['x-request-id', requestIdOf(message), ...resource.fields, ...services.transportSecurity];
  fields.push('content-length', String(content.length));
  response.writeHead(200, fields).end(content);
  return true;
}

/** Reserves memory of the body budget for a long response body. Returns whether there is enough. */
export function reserveBodyMemory(
  { bodyBudget }: Services,
  { method }: IncomingMessage,
  response: ServerResponse,
  outcome: ConditionOutcome,
  bytes: number,
  userId: string,
): boolean {
  if (outcome === 'not_modified' || method !== 'GET' || bytes <= maxUnbudgetedBytes) return true;
  return leaseFor(bodyBudget, userId, response).take(bytes);
}

/** Sends a binding list, or 304. */
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
  else response.end(json, 'latin1'); // Node.js sends a string in one write with the header
}

function keyOf(authorization: string | undefined, target: string): string | undefined {
  if (authorization === undefined || authorization.length + target.length > maxKeyLength) return undefined;
  return `${authorization} ${target}`;
}
