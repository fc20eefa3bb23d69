import { createHash } from 'node:crypto';
import { tinyModule } from '../../packages/server/test/helpers/world.ts';
import type { Random } from '../helpers/random.ts';
import { type ClientRequest, type ClientResponse, contentPath, type Interceptor } from './client.ts';

/** A fault that a chaos test must detect. It shows that the checks work. */
export interface SeededFault {
  readonly description: string;
  /** Matches the violation by which it is detected. */
  readonly detectedBy: RegExp;
  /** Injects the fault between the client and the nodes. */
  readonly intercept?: (random: Random) => Interceptor;
  /** Injects the fault into the stores of the environment `postgres`. */
  readonly storeFault?: StoreFault;
  /** Only disruptions whose name contains this text; by default all. */
  readonly only?: string;
}

export type StoreFault = 'not durable' | 'lost object';

export const seededFaults: Readonly<Record<string, SeededFault>> = {
  'stale-list': {
    description: 'one of ten lists is more than 1.5 s old',
    detectedBy: /stale or wrong binding/,
    intercept: staleLists,
  },
  'late-revocation': {
    description: 'a revoked token is accepted for 3 s',
    detectedBy: /for a revoked token/,
    intercept: () => lateRefusals(401),
  },
  'late-removal': {
    description: 'a removed member is accepted for 3 s',
    detectedBy: /for a removed member/,
    intercept: () => lateRefusals(404),
  },
  'wrong-byte': {
    description: 'one of twenty contents has a wrong byte',
    detectedBy: /content .*: 200 with/,
    intercept: wrongBytes,
  },
  'wrong-digest': {
    description: 'one of twenty lists has the digest of another body',
    detectedBy: /repr-digest does not match/,
    intercept: (random) =>
      replaceSome(random, 0.05, isList, (response) => ({ ...response, headers: wrongDigest(response) })),
  },
  'lost-publish': {
    description: 'one of ten publishes is acknowledged but not executed',
    detectedBy: /stale or wrong binding|published version|yank: unexpected 404/,
    intercept: lostPublishes,
  },
  'duplicate-publish': {
    description: 'one of ten publishes creates two versions',
    detectedBy: /published version/,
    intercept: duplicatePublishes,
  },
  'server-error': {
    description: 'one of fifty lists is answered with 500',
    detectedBy: /: 500 /,
    intercept: (random) => replaceSome(random, 0.02, isList, () => problem(500)),
  },
  'no-retry-after': {
    description: 'one of fifty lists is answered with 503 without retry-after',
    detectedBy: /503 without retry-after/,
    intercept: (random) => replaceSome(random, 0.02, isList, () => problem(503)),
  },
  'closed-connection': {
    description: 'one of fifty connections is closed before the response',
    detectedBy: /the seeded fault closed the connection/,
    intercept: (random) =>
      replaceSome(random, 0.02, isList, () => {
        throw new Error('the seeded fault closed the connection');
      }),
  },
  'not-durable': {
    description: 'PostgreSQL acknowledges commits before they are durable',
    detectedBy: /stale or wrong binding|published version|for a valid token|final check/,
    storeFault: 'not durable',
    only: 'database: killed',
  },
  'lost-object': {
    description: 'the object store acknowledges one of ten uploads without storing the object',
    detectedBy: /content|GET api\/v1\/c.*: 500/,
    storeFault: 'lost object',
  },
};

type Matcher = (request: ClientRequest) => boolean;

const isList: Matcher = ({ method, path }) => method === 'GET' && path.includes('/bindings/');
const isContent: Matcher = ({ method, path }) => method === 'GET' && path.startsWith(contentPath);
const isPublish: Matcher = ({ method, path }) => method === 'PUT' && path.includes('/plugin/');

/** Replaces a share of the successful responses to matching requests. */
function replaceSome(
  random: Random,
  probability: number,
  matches: Matcher,
  replace: (response: ClientResponse) => ClientResponse,
): Interceptor {
  return async (request, forward) => {
    const response = await forward(request);
    return matches(request) && response.status === 200 && random.chance(probability) ? replace(response) : response;
  };
}

function wrongBytes(random: Random): Interceptor {
  return replaceSome(random, 0.05, isContent, (response) => {
    const body = Buffer.from(response.body);
    const at = random.below(body.length);
    body[at] = (body[at] ?? 0) ^ 1;
    return { ...response, body };
  });
}

function wrongDigest({ headers }: ClientResponse): ClientResponse['headers'] {
  return { ...headers, 'repr-digest': `sha-256=:${createHash('sha256').digest('base64')}:` };
}

function problem(status: number): ClientResponse {
  const body = Buffer.from(JSON.stringify({ type: 'about:blank', title: 'Seeded fault', status, code: 'internal' }));
  return { status, headers: { 'content-type': 'application/problem+json' }, body };
}

/** As a server does that has this response in its cache. */
function revalidated({ headers = {} }: ClientRequest, cached: ClientResponse): ClientResponse {
  if (headers['if-none-match'] !== cached.headers.etag) return cached;
  return { ...cached, status: 304, body: Buffer.alloc(0) };
}

function staleLists(random: Random): Interceptor {
  const snapshots = new Map<string, { readonly response: ClientResponse; readonly takenMs: number }>();
  return async (request, forward) => {
    const response = await forward(request);
    if (!isList(request) || (response.status !== 200 && response.status !== 304)) return response;
    const snapshot = snapshots.get(request.path);
    const ageMs = performance.now() - (snapshot?.takenMs ?? Number.NEGATIVE_INFINITY);
    if (response.status === 200 && ageMs > 4000) {
      snapshots.set(request.path, { response, takenMs: performance.now() });
    }
    return snapshot !== undefined && ageMs > 1500 && random.chance(0.1)
      ? revalidated(request, snapshot.response)
      : response;
  };
}

/** Returns the last list instead of a refusal for a while. */
function lateRefusals(status: 401 | 404): Interceptor {
  const lists = new Map<string, ClientResponse>();
  const refusedSinceMs = new Map<string, number>();
  return async (request, forward) => {
    const response = await forward(request);
    if (!isList(request)) return response;
    const key = `${request.token} ${request.path}`;
    if (response.status === 200) lists.set(key, response);
    if (response.status !== status) refusedSinceMs.delete(key);
    const list = lists.get(key);
    if (response.status !== status || list === undefined) return response;
    const sinceMs = refusedSinceMs.get(key) ?? performance.now();
    refusedSinceMs.set(key, sinceMs);
    return performance.now() - sinceMs < 3000 ? revalidated(request, list) : response;
  };
}

interface Published {
  readonly version: { readonly number: number };
  readonly contentAddress: string;
}

function lostPublishes(random: Random): Interceptor {
  const published = new Map<string, ClientResponse>();
  return async (request, forward) => {
    const last = published.get(request.path);
    if (!isPublish(request) || last === undefined || !random.chance(0.1)) {
      const response = await forward(request);
      if (isPublish(request) && response.status < 300) published.set(request.path, response);
      return response;
    }
    const previous = JSON.parse(last.body.toString()) as Published;
    const contentAddress = createHash('sha256')
      .update(request.body ?? '')
      .digest('base64url');
    const version = { ...previous.version, number: previous.version.number + 1 };
    return { ...last, body: Buffer.from(JSON.stringify({ ...previous, version, contentAddress })) };
  };
}

function duplicatePublishes(random: Random): Interceptor {
  let number = 5_000_000;
  return async (request, forward) => {
    if (isPublish(request) && random.chance(0.1)) await forward({ ...request, body: tinyModule(number++) });
    return forward(request);
  };
}
