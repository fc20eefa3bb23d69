import type { IncomingMessage } from 'node:http';
import type { Services } from '../services.ts';
import { ClientDisconnected } from './bodies/read-bytes.ts';
import { corsHeaders } from './cors.ts';
import type { ErrorFormat, ErrorResponse } from './http-error.ts';
import { unavailable } from './http-error.ts';
import { isOutOfFileDescriptors } from './limits/file-descriptors.ts';
import { errorHeaders, problemFormat } from './problem.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';

/**
 * Answers an error in the route's form, and logs it as its kind demands.
 *
 * @param form for what the router refused on a path that exists
 */
export function sendError(
  services: Services,
  error: unknown,
  request: Request,
  reply: Reply,
  form: ErrorFormat = request.route?.errorFormat ?? problemFormat,
): void {
  const { response } = reply;
  if (error instanceof ClientDisconnected) {
    services.log.debug(requestLogFields(services, request), 'the client went away');
    response.destroy();
    return;
  }
  const meant = asUnavailable(error);
  const answer = form.toResponse(meant, services.addresses.base());
  const isOpen = request.route?.isForAnyOrigin ?? true;
  logError(services, answer, request);
  if (response.headersSent) {
    response.destroy(); // an error amid a response can't be told from it: the connection is all that can be ended
    return;
  }
  response.once('finish', () => drain(request.message));
  for (const name of contentHeaders) reply.removeHeader(name);
  const body = JSON.stringify(answer.body);
  reply
    .headers({ ...errorHeaders, 'content-type': form.contentType, 'x-request-id': request.id, ...answer.headers })
    .headers(isOpen ? corsHeaders : {})
    .header('content-length', Buffer.byteLength(body));
  response.writeHead(answer.status, reply.fields).end(request.method === 'HEAD' ? undefined : body);
}

/** What a handler may have said of a content before it failed, and what an error must not say. */
const contentHeaders = [
  'accept-ranges',
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'repr-digest',
] as const;

/** An error that passes by itself as `unavailable`; any other as it is. */
function asUnavailable(error: unknown): unknown {
  return isOutOfFileDescriptors(error)
    ? unavailable('The server has too many connections and files open. Try again shortly.', 1, error)
    : error;
}

/** What each line about a request has: its id, its route, and in which trace it is. */
export function requestLogFields({ traces }: Services, request: Request) {
  return { requestId: request.id, route: routeName(request), ...traces?.idsOf(request.message) };
}

/** The route's template, never the path, which may hold a guest key or an id. */
function routeName(request: Request): string {
  return `${request.method} ${request.route?.path ?? '(none)'}`;
}

/** The server's own failures with all that is known; what clients do wrong in a line, whose words hold nothing of theirs. */
function logError(services: Services, answer: ErrorResponse, request: Request): void {
  const { status, code, cause, isRoutine = status === 401 || status === 404 || status === 405 } = answer;
  services.traces?.failed(request.message, status, code);
  const line = { ...requestLogFields(services, request), status, code };
  if (status >= 500) services.log.error({ ...line, err: cause }, 'request failed');
  else if (isRoutine) services.log.debug(line, 'request refused');
  else services.log.info(line, 'request refused');
}

/** How much of a refused body is read to its end, so that the connection can be used again. */
const maxDrainBytes = 256 * 1024 * 1024;
const maxDrainMs = 30_000;

/**
 * Sees to it that a client whose body was not read gets its answer. Closing right away would reset the connection under a
 * client that still sends, and many then drop the answer unread; so the rest is read and thrown away, within bounds.
 */
function drain(message: IncomingMessage): void {
  if (message.complete || message.readableEnded || message.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => message.destroy(), maxDrainMs);
  timer.unref();
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDrainBytes) message.destroy();
  });
  message.on('error', () => {});
  const stop = (): void => clearTimeout(timer);
  message.once('end', stop).once('close', stop);
  message.resume();
}
