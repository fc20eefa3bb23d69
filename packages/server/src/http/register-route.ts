import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { admit } from './authenticate.ts';
import type { BodySource } from './bodies/body-reader.ts';
import { parseMediaType } from './bodies/media-type.ts';
import { corsHeaders } from './cors.ts';
import type { Parts } from './parts.ts';
import { createQueryReader, type QueryReader } from './query.ts';
import type { Access, Admission, Call, Route } from './route.ts';

/** What the hook that lets callers in leaves for the handler. */
const admissions = Symbol('admission');

interface AdmittedRequest extends FastifyRequest {
  [admissions]?: Admission;
}

/**
 * Makes Fastify serve a route: lets the caller in before the body is read, then reads query and body, then calls the
 * handler.
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
    config: { access },
    onRequest: admissionHook(parts, route, readQuery),
    handler: body === undefined ? plainHandler(parts, route, readQuery) : bodyHandler(parts, route, readQuery),
  });
}

function admissionHook(parts: Parts, route: Route, readQuery: QueryReader | undefined) {
  return async (request: FastifyRequest): Promise<void> => {
    const admission = await admit(parts, route.access, request);
    (request as AdmittedRequest)[admissions] = admission;
    route.beforeBody?.(parts, toCall(request, readQuery, undefined));
  };
}

type AnyCall = Call<Access, string, never, unknown>;

function toCall(request: FastifyRequest, readQuery: QueryReader | undefined, body: unknown): AnyCall {
  return {
    request,
    admission: (request as AdmittedRequest)[admissions] ?? {},
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
    return route.handle(parts, { ...call, body }, reply);
  };
}

/** What all answers have that aren't errors; a route that may be cached says so itself. */
function prepare(route: Route, request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  if (route.page !== true) reply.headers(corsHeaders);
}

function bodySource(parts: Parts, request: FastifyRequest, reply: FastifyReply): BodySource {
  const { bodyBudget } = parts;
  let taken = 0;
  reply.raw.once('close', () => bodyBudget.give(taken));
  if (request.headers.expect !== undefined) reply.raw.writeContinue();
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
