import type { IncomingMessage, RequestListener } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { isOutOfFileDescriptors } from './file-descriptors.ts';
import { answerError } from './http/answer-error.ts';
import { answerAskedBefore } from './http/asked-before.ts';
import { answerClientError, bareAnswer } from './http/client-error.ts';
import { limitConnections } from './http/connections.ts';
import { answerLost } from './http/console-page.ts';
import { readCookie } from './http/cookies.ts';
import { corsHeaders, preflightHeaders } from './http/cors.ts';
import { HttpError, unavailable } from './http/http-error.ts';
import { requireKnownHost, showsBrowser, transportSecurity } from './http/known-hosts.ts';
import { oneAtATime } from './http/one-at-a-time.ts';
import type { Parts } from './http/parts.ts';
import { createPathTable, type PathTable } from './http/path-table.ts';
import { registerRoute } from './http/register-route.ts';
import { createRequestIds } from './http/request-id.ts';
import { createUrlRewriter } from './http/rewrite-url.ts';
import type { Route } from './http/route.ts';
import { routesOf } from './http/routes/all.ts';
import { tendConnections } from './http/tend-connections.ts';
import type { RequestCounts } from './metrics/count-requests.ts';

/** How many unused connections are closed when the process has no descriptors left. */
const spareConnections = 32;

/** Puts the HTTP side together from its parts. It listens to nothing: `main.ts` does, and tests inject requests. */
export function createApp(parts: Parts, routes: readonly Route[] = routesOf(parts.settings.only)): FastifyInstance {
  const { settings, addresses } = parts;
  const requestIdOf = createRequestIds(parts.context.random);
  const rewriteUrl = createUrlRewriter(() => [addresses.base(), addresses.instrument()]);
  const app = fastify({
    logger: false, // Fastify's own lines have the path in them
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: parts.traces?.notingIds(requestIdOf) ?? requestIdOf,
    rewriteUrl: (message) => rewriteUrl(message.url ?? '/'),
    frameworkErrors: (error, request, reply) => answerError(parts, error, request, reply as FastifyReply),
    clientErrorHandler: (error, socket) =>
      answerClientError(parts, error, socket, (target) => paths.at(target)?.errorForm),
    routerOptions: { maxParamLength: settings.maxHeaderBytes }, // a long id is an unknown id
    exposeHeadRoutes: false,
    return503OnClosing: false, // what comes on an open connection during the shutdown is still answered
    forceCloseConnections: 'idle',
    requestTimeout: settings.bodyTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    http: {
      maxHeaderSize: settings.maxHeaderBytes,
      headersTimeout: settings.headerTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, settings.headerTimeoutMs),
    },
  });
  const connections = limitConnections(app.server, {
    max: settings.maxConnections,
    refusal: () => bareAnswer(parts, unavailable('All connections that there may be are in use.', 5)),
  });
  tendConnections(app.server, connections, settings.idleTimeoutMs);
  listenForRequests(app, parts, requestIdOf);
  // Who calls is checked before a byte of the body is asked for; see `bodySource`.
  app.server.on('checkContinue', (message, response) => app.server.emit('request', message, response));
  // Other expectations may be passed over (RFC 9110 §10.1.1); Node would refuse them with an empty answer of its own.
  app.server.on('checkExpectation', (message, response) => app.server.emit('request', message, response));

  // Routes read their own bodies, once the caller was let in.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  app.setErrorHandler((error, request, reply) => {
    if (isOutOfFileDescriptors(error)) connections.closeUnused(spareConnections);
    answerError(parts, error, request, reply);
  });

  // Streams of news would hold up the shutdown for as long as their clients listen.
  app.addHook('preClose', (done) => {
    parts.news.close();
    done();
  });
  for (const told of [parts.requests, parts.traces]) if (told !== undefined) app.addHook('onRequest', routeHook(told));
  app.addHook('onRequest', hostHook(parts));
  for (const route of routes) registerRoute(app, parts, route);
  const paths = createPathTable(routes);
  app.setNotFoundHandler((request, reply) => answerUnrouted(parts, paths, request, reply));
  return app;
}

/** Stands before the framework: answers from memory what can be, counts and traces. */
function listenForRequests(
  app: FastifyInstance,
  parts: Parts,
  requestIdOf: (message: IncomingMessage) => string,
): void {
  const { requests, traces, log } = parts;
  const notedIdOf = traces?.notingIds(requestIdOf) ?? requestIdOf;
  // Where every request is told in the log, every request goes through the framework.
  const isToldEach = log.isLevelEnabled('debug');
  const [handle] = app.server.listeners('request') as RequestListener[];
  app.server.removeAllListeners('request');
  const serve: RequestListener = (message, response) => {
    const startedAt = requests === undefined ? 0 : performance.now();
    const isTraced = traces?.begin(message) === true;
    // A server that is stopping tells clients to close their connections; the framework sees to that.
    const mayBeKnown = !isToldEach && app.server.listening;
    if (mayBeKnown && answerAskedBefore(parts, message, response, isTraced ? notedIdOf : requestIdOf)) {
      requests?.answered(message, response, startedAt);
      if (isTraced) traces?.answered(message, response);
      return;
    }
    requests?.begin(message, response);
    if (traces === undefined) handle?.(message, response);
    else traces.run(message, response, () => handle?.(message, response));
  };
  app.server.on('request', oneAtATime(serve));
  requests?.watchConnections(app.server);
}

/** Stands before every route, and before what no route takes. */
function hostHook(parts: Parts) {
  const { addresses, settings } = parts;
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (addresses.base().startsWith('https:')) reply.header(...transportSecurity);
    const isBrowser = showsBrowser(request.raw) || readCookie(parts, request, 'session') !== undefined;
    requireKnownHost({ addresses, listenHost: settings.host }, request.raw, isBrowser);
    done();
  };
}

function routeHook(told: Pick<RequestCounts, 'routed'>) {
  return ({ raw, routeOptions }: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    if (routeOptions.url !== undefined) told.routed(raw, routeOptions.url);
    done();
  };
}

/** What no route takes: preflights, other methods of a path that is there, and paths that aren't, for browsers and for programs. */
function answerUnrouted(parts: Parts, paths: PathTable, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const entry = paths.at(request.raw.url ?? '/');
  if (entry === undefined) {
    if (answerLost(parts, paths, request, reply)) return reply;
    throw new HttpError('not_found', 'Nothing is at this path.');
  }
  const allow = entry.methods.join(', ');
  if (request.method !== 'OPTIONS') {
    const error = new HttpError('method_not_allowed', `Allowed here: ${allow}.`, { allow });
    answerError(parts, error, request, reply, entry.errorForm);
    return reply;
  }
  return reply
    .code(204)
    .headers(entry.isForAnyOrigin ? { ...corsHeaders, ...preflightHeaders, 'access-control-allow-methods': allow } : {})
    .header('allow', allow)
    .header('x-request-id', request.id)
    .send();
}
