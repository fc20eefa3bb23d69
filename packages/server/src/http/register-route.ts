import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  RouteHandlerMethod,
} from 'fastify';
import type { Snapshot } from '../domain/snapshots.ts';
import { routeOf } from './answer-error.ts';
import { admit } from './authenticate.ts';
import type { BodySource } from './bodies/body-reader.ts';
import { parseMediaType } from './bodies/media-type.ts';
import { corsHeaders, isForAnyOrigin } from './cors.ts';
import type { Parts } from './parts.ts';
import { createQueryReader, type QueryReader } from './query.ts';
import type { Access, Admission, Call, Route } from './route.ts';

/** What the hook that lets callers in leaves for the handler. */
const admitted = Symbol('admitted');

interface AdmittedRequest extends FastifyRequest {
  [admitted]: { readonly admission: Admission; readonly snapshot: Snapshot };
}

/**
 * Makes Fastify serve a route: lets the caller in before the body is read, then reads query and body, looks whether the
 * caller may still come in, then calls the handler.
 *
 * @throws Error for a route that doesn't say who may call it
 */
export function registerRoute(app: FastifyInstance, parts: Parts, route: Route): void {
  const { method, path, access, body } = route;
  if ((access as Access | undefined) === undefined) throw new Error(`The route ${method} ${path} declares no access`);
  const readQuery = route.query === undefined ? undefined : createQueryReader(route.query);
  app.route({
    method: method === 'GET' ? ['GET', 'HEAD'] : method,
    url: path,
    exposeHeadRoute: false,
    config: { isForAnyOrigin: isForAnyOrigin(route), errorForm: route.errorForm },
    onRequest: admissionHook(parts, route, readQuery),
    ...(isLogged(parts, method) ? { onResponse: logHook(parts) } : {}),
    handler: body === undefined ? plainHandler(parts, route, readQuery) : bodyHandler(parts, route, readQuery),
  });
}

/** Changes are told in the log; reads only to those who debug, which also spares each read a listener. */
function isLogged({ log }: Parts, method: string): boolean {
  return log.isLevelEnabled(method === 'GET' ? 'debug' : 'info');
}

function logHook({ log }: Parts) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { statusCode: status, elapsedTime } = reply;
    if (status < 400) {
      // What is refused was told when it was.
      const line = { requestId: request.id, route: routeOf(request), status, durationMs: Math.round(elapsedTime) };
      log[request.method === 'GET' || request.method === 'HEAD' ? 'debug' : 'info'](line, 'request answered');
    }
    done();
  };
}

function admissionHook(parts: Parts, route: Route, readQuery: QueryReader | undefined) {
  const headers = route.headers?.(parts);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (headers !== undefined) reply.headers(headers);
    const snapshot = parts.context.snapshots.current();
    const admission = await admit(parts, route.access, request);
    (request as AdmittedRequest)[admitted] = { admission, snapshot };
    route.beforeBody?.(parts, toCall(request, readQuery, undefined));
  };
}

type AnyCall = Call<Access, string, never, unknown>;

function toCall(request: FastifyRequest, readQuery: QueryReader | undefined, body: unknown): AnyCall {
  return {
    request,
    ...(request as AdmittedRequest)[admitted],
    params: request.params as Record<string, string>,
    query: (readQuery?.(request.query as Record<string, unknown>) ?? {}) as never,
    body,
  };
}

function plainHandler(parts: Parts, route: Route, readQuery: QueryReader | undefined): RouteHandlerMethod {
  return (request, reply) => {
    prepare(route, request, reply);
    return route.handle(parts, toCall(request, readQuery, undefined), reply);
  };
}

function bodyHandler(parts: Parts, route: Route, readQuery: QueryReader | undefined): RouteHandlerMethod {
  return async (request, reply) => {
    prepare(route, request, reply);
    const call = toCall(request, readQuery, undefined); // a query that is wrong needs no body to be refused
    const body = await route.body?.read(bodySource(parts, request, reply));
    // A body may take minutes to come, and what let its sender in be taken away meanwhile.
    const admission = await admit(parts, route.access, request, true);
    return route.handle(parts, { ...call, admission, body }, reply);
  };
}

/** What all answers have that aren't errors; a route that may be cached says so itself. */
function prepare(route: Route, request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  if (isForAnyOrigin(route)) reply.headers(corsHeaders);
}

function bodySource(parts: Parts, request: FastifyRequest, reply: FastifyReply): BodySource {
  const { bodyBudget } = parts;
  let taken = 0;
  reply.raw.once('close', () => bodyBudget.give(taken));
  if (/^100-continue$/i.test(request.headers.expect ?? '')) reply.raw.writeContinue();
  return {
    message: request.raw,
    mediaType: parseMediaType(request.headers['content-type'] ?? '')?.type ?? '',
    limits: parts.settings,
    lease: {
      take(bytes) {
        if (!bodyBudget.take(bytes)) return false;
        taken += bytes;
        return true;
      },
    },
  };
}
