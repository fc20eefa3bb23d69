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

/** What a client may choose as a request id: it goes into the log and back out. */
const requestIdPattern = /^[A-Za-z0-9._:-]{1,100}$/;

/** The steps that the features add to the pipeline. */
interface PipelineSteps {
  /** Responds from the cache. Returns the template of the route; `undefined`, and does nothing, when it can't. */
  readonly respondFromCache: (
    services: Services,
    message: IncomingMessage,
    response: ServerResponse,
    requestIdOf: (message: IncomingMessage) => string,
  ) => string | undefined;
  /** Responds to a browser at a path where no route is. Returns whether it responded. */
  readonly respondNotFound: (services: Services, router: Router, request: Request, reply: Reply) => boolean;
  /** Closes idle connections. Called when the process has no descriptors left. */
  readonly closeIdle: () => void;
}

/** Responds to every request: from the cache, or by the route that the router finds. */
export function createPipeline(services: Services, router: Router, steps: PipelineSteps) {
  const { respondFromCache, closeIdle } = steps;
  const { deps, requests, traces, log } = services;
  const newId = createRequestIds(deps.random);
  const tracedId = traces?.notingIds(newId) ?? newId;
  // Where every request is logged, every request goes all the way.
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
      requests?.answered(message, response, route, startedAt);
      if (isTraced) traces?.answered(message, response, route);
      return;
    }
    requests?.begin(message, response);
    if (traces === undefined) void handle(message, response);
    else traces.run(message, response, () => void handle(message, response));
  };
  return {
    listener,
    /**
     * Makes every further response the last on its connection. A connection that stays open until the server closes it may carry another
     * request at that very moment, which is never answered (RFC 9112 §9.6).
     */
    closeAfterResponses(): void {
      isClosing = true;
    },
  };
}

/**
 * Names requests: by the client's own `x-request-id` when it is one, else by a number within a random prefix, which costs
 * next to nothing and is unique over restarts and machines.
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
    services.requests?.routed(message, endpoint.matched.path);
    services.traces?.routed(message, endpoint.matched.path);
  }
  requireKnownHostOf(services, request);
  await (match === undefined
    ? respondUnrouted(services, router, steps, request, reply)
    : match.endpoint.handle(request, reply));
}

function requireKnownHostOf(services: Services, request: Request): void {
  const { addresses, settings } = services;
  const isBrowser = isFromBrowser(request.message) || readCookie(services, request, 'session') !== undefined;
  requireKnownHost({ addresses, listenHost: settings.host }, request.message, isBrowser);
}

/** Responds where no route matches: to preflights, other methods of a path that exists, and unknown paths, of browsers and of programs. */
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
