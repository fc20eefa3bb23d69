import type { CacheVersion } from '../cache/invalidation-log.ts';
import type { Services } from '../services.ts';
import { runWithFairnessKey } from '../workers/fairness-key.ts';
import { createBodyMemory } from './bodies/body-memory.ts';
import type { BodySource } from './bodies/body-reader.ts';
import { accountOf, callerOf } from './bodies/body-room.ts';
import { parseMediaType } from './bodies/media-type.ts';
import { corsHeaders, isForAnyOrigin } from './cors.ts';
import { TooManyAttemptsError } from './domain-errors.ts';
import { ListResponse, serializeList } from './list-response.ts';
import { createQueryReader } from './query.ts';
import { Reply } from './reply.ts';
import type { Request } from './request.ts';
import type { Access, AuthContext, Call, Route } from './route.ts';
import { requestLogFields } from './send-error.ts';
import { sendReply } from './send-reply.ts';

export type Endpoint = ReturnType<typeof createEndpoint>;

type AnyCall = Call<Access, string, never, unknown>;

/**
 * Authorizes a request, or throws the error to respond with.
 *
 * @param isAgain whether the same request was authorized before; then rate limits don't count it
 */
export type AuthorizeRequest = (
  services: Services,
  access: Access,
  request: Request,
  isAgain?: boolean,
) => Promise<AuthContext>;

/**
 * Creates the request handler of a route. It authorizes the caller, validates the query, reads the body, authorizes the caller again, then
 * calls the route's handler.
 *
 * @throws Error for a route without `access`
 */
export function createEndpoint(services: Services, route: Route, authorizeRequest: AuthorizeRequest) {
  const { method, path, access } = route;
  if ((access as Access | undefined) === undefined) throw new Error(`The route ${method} ${path} declares no access`);
  const readQuery = route.query === undefined ? undefined : createQueryReader(route.query);
  const status = Number(Object.keys(route.responses)[0] ?? 200); // numeric keys come in ascending order
  const ownFields = route.headers?.(services);
  const isOpen = isForAnyOrigin(route);
  const successFields = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store', // cacheable routes override this
    ...(isOpen ? corsHeaders : {}),
  };
  const logs = services.log.isLevelEnabled(method === 'GET' ? 'debug' : 'info');

  const toCall = (request: Request, auth: AuthContext, since: CacheVersion): AnyCall => ({
    request,
    auth,
    since,
    params: request.params,
    query: (readQuery?.(request.query) ?? {}) as never,
    body: undefined,
  });
  const respond = async (call: AnyCall, reply: Reply): Promise<unknown> => {
    const { request, auth } = call;
    // Reads don't wait in a fair queue.
    if (method === 'GET') return route.handle(services, call, reply);
    const caller = callerOf(services, auth, request);
    if (route.body === undefined) return runWithFairnessKey(caller, async () => route.handle(services, call, reply));
    const source = bodySource(services, auth, request, reply);
    try {
      const body = await route.body.read(source);
      // A body may take minutes to arrive, and the caller may have lost access meanwhile.
      const renewed = await authorizeRequest(services, access, request, true);
      return await runWithFairnessKey(caller, async () =>
        route.handle(services, { ...call, auth: renewed, body }, reply),
      );
    } finally {
      source.end();
    }
  };
  return {
    route,
    matched: { path, errorFormat: route.errorFormat, isForAnyOrigin: isOpen },
    /** Handles a request. If it throws, the caller must send the error response. */
    async handle(request: Request, reply: Reply): Promise<void> {
      if (logs) logResponse(services, request, reply);
      if (ownFields !== undefined) reply.headers(ownFields);
      const since = services.deps.cache.version();
      const auth = await authorizeRequest(services, access, request);
      if (route.hasOwnLimit !== true) limitConcurrency(services, auth, reply);
      const call = toCall(request, auth, since);
      route.beforeBody?.(services, call);
      reply.headers(successFields).header('x-request-id', request.id).code(status);
      const result = await respond(call, reply);
      if (result instanceof ListResponse) reply.json(await serializeList(services, auth, request, reply, result));
      else if (reply.statusCode !== 204 && !(result instanceof Reply)) reply.json(JSON.stringify(result));
      await sendReply(services, auth, request, reply);
    },
  };
}

/** Logs a successful response: writes at level `info`, reads at `debug`. `sendError()` logs errors. */
function logResponse(services: Services, request: Request, { response }: Reply): void {
  const startedAt = performance.now();
  response.once('finish', () => {
    const { statusCode: status } = response;
    if (status >= 400) return;
    const line = {
      ...requestLogFields(services, request),
      status,
      durationMs: Math.round(performance.now() - startedAt),
    };
    services.log[request.method === 'GET' || request.method === 'HEAD' ? 'debug' : 'info'](line, 'request completed');
  });
}

/** Counts a request against the concurrency limit of its account until its response has been sent. */
function limitConcurrency({ requestSemaphore }: Services, auth: AuthContext, { response }: Reply): void {
  const account = accountOf(auth);
  if (account === undefined || response.destroyed) return;
  const permit = requestSemaphore.acquire(account);
  if (typeof permit === 'string') throw new TooManyAttemptsError('Too many requests of this account are under way.', 1);
  response.once('close', permit);
}

/** Returns the unread body. Call `end()` when the body is not needed any more. */
function bodySource(
  services: Services,
  auth: AuthContext,
  request: Request,
  { response }: Reply,
): BodySource & { end(): void } {
  const lease = services.bodyBudget.lease(callerOf(services, auth, request));
  const memory = createBodyMemory(Number(request.headers['content-length'] ?? 0));
  // The lease ends after the response, which may be as large as the body, and after the handler, which may outlive the connection.
  let pending = 2;
  const done = (): void => {
    if (--pending === 0) lease.end();
  };
  if (response.destroyed) done();
  else response.once('close', done);
  if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
  return {
    message: request.message,
    mediaType: parseMediaType(request.headers['content-type'] ?? '')?.type ?? '',
    limits: services.settings,
    mayBeSlow: accountOf(auth) !== undefined,
    lease,
    memory,
    end() {
      memory.free();
      done();
    },
  };
}
