import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  RouteHandlerMethod,
} from 'fastify';
import { runWithFairnessKey } from '../domain/fairness-key.ts';
import type { Moment } from '../domain/memories/touch-log.ts';
import { accountOf } from './account-of.ts';
import { lineOf } from './answer-error.ts';
import { admit, rateLimited } from './authenticate.ts';
import { createBodyMemory } from './bodies/body-memory.ts';
import type { BodySource } from './bodies/body-reader.ts';
import { parseMediaType } from './bodies/media-type.ts';
import { corsHeaders, isForAnyOrigin } from './cors.ts';
import { callerOf, countTextHook } from './count-response.ts';
import { ListResponse, sendList } from './list-response.ts';
import type { Parts } from './parts.ts';
import { createQueryReader, type QueryReader } from './query.ts';
import type { Access, Admission, Call, Route } from './route.ts';

/** What the hook that lets callers in leaves for the handler. */
const admitted = Symbol('admitted');

interface AdmittedRequest extends FastifyRequest {
  [admitted]: { readonly admission: Admission; readonly since: Moment };
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
    onSend: countTextHook(parts, admissionOf),
    handler: body === undefined ? plainHandler(parts, route, readQuery) : bodyHandler(parts, route, readQuery),
  });
}

/** Changes are told in the log; reads only to those who debug, which also spares each read a listener. */
function isLogged({ log }: Parts, method: string): boolean {
  return log.isLevelEnabled(method === 'GET' ? 'debug' : 'info');
}

function logHook(parts: Parts) {
  const { log } = parts;
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { statusCode: status, elapsedTime } = reply;
    if (status < 400) {
      // What is refused was told when it was.
      const line = { ...lineOf(parts, request), status, durationMs: Math.round(elapsedTime) };
      log[request.method === 'GET' || request.method === 'HEAD' ? 'debug' : 'info'](line, 'request answered');
    }
    done();
  };
}

function admissionHook(parts: Parts, route: Route, readQuery: QueryReader | undefined) {
  const headers = route.headers?.(parts);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (headers !== undefined) reply.headers(headers);
    const since = parts.context.memories.now();
    const admission = await admit(parts, route.access, request);
    (request as AdmittedRequest)[admitted] = { admission, since };
    if (route.hasOwnPlaces !== true) takePlace(parts, admission, reply);
    route.beforeBody?.(parts, toCall(request, readQuery, undefined));
  };
}

/** Gives a request its place among those of its account, for as long as it lasts. */
function takePlace({ places }: Parts, admission: Admission, reply: FastifyReply): void {
  const account = accountOf(admission);
  if (account === undefined || reply.raw.destroyed) return;
  const place = places.take(account);
  if (typeof place === 'string') throw rateLimited('Too many requests of this account are under way.', 1);
  reply.raw.once('close', place);
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
  return async (request, reply) => {
    prepare(route, request, reply);
    const call = toCall(request, readQuery, undefined);
    const handle = async (): Promise<unknown> => route.handle(parts, call, reply);
    // What only reads waits in no fair queue.
    const answer = await (route.method === 'GET'
      ? handle()
      : runWithFairnessKey(callerOf(parts, call.admission, request), handle));
    return answer instanceof ListResponse ? sendList(parts, call.admission, request, reply, answer) : answer;
  };
}

/** What a caller was let in with; nothing for one who was refused. */
function admissionOf(request: FastifyRequest): Admission {
  return (request as Partial<AdmittedRequest>)[admitted]?.admission ?? {};
}

function bodyHandler(parts: Parts, route: Route, readQuery: QueryReader | undefined): RouteHandlerMethod {
  return async (request, reply) => {
    prepare(route, request, reply);
    const call = toCall(request, readQuery, undefined); // a query that is wrong needs no body to be refused
    const source = bodySource(parts, call.admission, request, reply);
    try {
      const body = await route.body?.read(source);
      // A body may take minutes to come, and what let its sender in be taken away meanwhile.
      const admission = await admit(parts, route.access, request, true);
      const caller = callerOf(parts, admission, request);
      return await runWithFairnessKey(caller, () => route.handle(parts, { ...call, admission, body }, reply));
    } finally {
      source.end();
    }
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

/** @returns where the body comes from, and what is to be called once nobody needs it any more */
function bodySource(
  parts: Parts,
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
): BodySource & { end(): void } {
  const lease = parts.bodyBudget.lease(callerOf(parts, admission, request));
  const memory = createBodyMemory(Number(request.headers['content-length'] ?? 0));
  // An answer may be as large as the body was. And who goes away may leave work behind that has begun.
  let waitsFor = 2;
  const done = (): void => {
    if (--waitsFor === 0) lease.end();
  };
  if (reply.raw.destroyed) done();
  else reply.raw.once('close', done);
  if (/^100-continue$/i.test(request.headers.expect ?? '')) reply.raw.writeContinue();
  return {
    message: request.raw,
    mediaType: parseMediaType(request.headers['content-type'] ?? '')?.type ?? '',
    limits: parts.settings,
    mayBeSlow: accountOf(admission) !== undefined,
    lease,
    memory,
    end() {
      memory.free();
      done();
    },
  };
}
