import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Services } from '../services.ts';
import { readCookie } from './cookies.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { HttpError } from './http-error.ts';
import { isFromBrowser, requireKnownHost } from './known-hosts.ts';
import { isOutOfFileDescriptors } from './limits/file-descriptors.ts';
import { Reply } from './reply.ts';
import { Request } from './request.ts';
import type { Router } from './router.ts';
import { sendError } from './send-error.ts';
import { sendReply } from './send-reply.ts';

/** Request ids that clients may choose. They are logged and returned. */
const requestIdPattern = /^[A-Za-z0-9._:-]{1,100}$/;

/** Steps that other folders implement. */
interface PipelineSteps {
  /** Responds from the cache. Returns the template of the route; `undefined` if the response is not cached. */
  readonly respondFromCache: (
    services: Services,
    message: IncomingMessage,
    response: ServerResponse,
    requestIdOf: (message: IncomingMessage) => string,
  ) => string | undefined;
  /** Responds to a browser at an unknown path. Returns whether it responded. */
  readonly respondNotFound: (services: Services, router: Router, request: Request, reply: Reply) => boolean;
  /** Closes idle connections. Called when the process has no descriptors left. */
  readonly closeIdle: () => void;
}

/** Creates the request listener: it responds from the cache, or calls the endpoint that the router finds. */
export function createPipeline(services: Services, router: Router, steps: PipelineSteps) {
  const { respondFromCache, closeIdle } = steps;
  const { deps, requests, traces, log } = services;
  const newId = createRequestIds(deps.random);
  const tracedId = traces?.addingIdsToSpans(newId) ?? newId;
  // Responses from the cache are not logged.
  const usesCache = !log.isLevelEnabled('debug');
  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = new Request(message, tracedId(message));
    const reply = new Reply(response);
    try {
      await respond(services, router, steps, request, reply).catch((error: unknown) => {
        if (isOutOfFileDescriptors(error)) closeIdle();
        sendError(services, error, request, reply);
      });
    } catch (error) {
      log.error({ err: error, requestId: request.id }, 'error response failed');
      response.destroy();
    }
  };
  let isClosing = false;
  const listener: RequestListener = (message, response) => {
    if (isClosing) response.setHeader('connection', 'close');
    const startedAt = requests === undefined ? 0 : performance.now();
    const isTraced = traces?.begin(message) === true;
    const route = usesCache ? respondFromCache(services, message, response, isTraced ? tracedId : newId) : undefined;
    if (route !== undefined) {
      requests?.cacheHit(message, response, route, startedAt);
      if (isTraced) traces?.cacheHit(message, response, route);
      return;
    }
    requests?.begin(message, response);
    if (traces === undefined) void handle(message, response);
    else traces.run(message, response, () => void handle(message, response));
  };
  return {
    listener,
    /**
     * Sends `connection: close` with all further responses. Otherwise a client could send its next request while the server closes the
     * connection, and would get no response (RFC 9112 §9.6).
     */
    closeAfterResponses(): void {
      isClosing = true;
    },
  };
}

/**
 * Returns a function that returns a request's id: the client's `x-request-id` if it is valid, otherwise a counter with a random prefix,
 * which makes it unique across restarts and machines.
 */
function createRequestIds(random: (length: number) => Uint8Array): (message: IncomingMessage) => string {
  const prefix = Buffer.from(random(6)).toString('hex');
  let count = 0;
  return (message) => {
    const clientId = message.headers['x-request-id'];
    return typeof clientId === 'string' && requestIdPattern.test(clientId)
      ? clientId
      : `${prefix}-${(count++).toString(36)}`;
  };
}

async function respond(
  services: Services,
  router: Router,
  steps: PipelineSteps,
  request: Request,
  reply: Reply,
): Promise<void> {
  const { message } = request;
  const [name, value = ''] = services.transportSecurity;
  if (name !== undefined) reply.header(name, value);
  const match = router.find(request.method, request.target);
  if (match !== undefined) {
    const { endpoint, params, query, rawWildcard } = match;
    request.route = endpoint.matched;
    request.params = params;
    request.query = query;
    request.rawWildcard = rawWildcard;
    services.requests?.setRoute(message, endpoint.matched.path);
    services.traces?.setRoute(message, endpoint.matched.path);
  }
  const isBrowser = isFromBrowser(message) || readCookie(services, request, 'session') !== undefined;
  requireKnownHost({ addresses: services.addresses, listenHost: services.settings.host }, message, isBrowser);
  await (match === undefined
    ? respondUnrouted(services, router, steps, request, reply)
    : match.endpoint.handle(request, reply));
}

/** Responds to requests without a route: preflights, unknown methods of known paths, and unknown paths. */
async function respondUnrouted(
  services: Services,
  router: Router,
  { respondNotFound }: PipelineSteps,
  request: Request,
  reply: Reply,
): Promise<void> {
  const found = router.pathInfo(request.target);
  if (found === undefined) {
    if (!respondNotFound(services, router, request, reply))
      throw new HttpError('not_found', 'No resource exists at this path.');
  } else {
    const allow = found.methods.join(', ');
    if (request.method !== 'OPTIONS') {
      const error = new HttpError('method_not_allowed', `Allowed here: ${allow}.`, { allow });
      sendError(services, error, request, reply, found.errorFormat);
      return;
    }
    const preflight = { ...corsHeaders, ...preflightHeaders, 'access-control-allow-methods': allow };
    reply
      .code(204)
      .headers(found.isForAnyOrigin ? preflight : {})
      .headers({ allow, 'x-request-id': request.id });
  }
  await sendReply(services, {}, request, reply);
}
