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
 * Sends an error response, and logs the error.
 *
 * @param format for errors of the router; default: the format of the matched route
 */
export function sendError(
  services: Services,
  error: unknown,
  request: Request,
  reply: Reply,
  format: ErrorFormat = request.route?.errorFormat ?? problemFormat,
): void {
  const { response } = reply;
  if (error instanceof ClientDisconnected) {
    services.log.debug(requestLogFields(services, request), 'client disconnected');
    response.destroy();
    return;
  }
  const errorResponse = format.toResponse(asUnavailable(error), services.addresses.base());
  const isOpen = request.route?.isForAnyOrigin ?? true;
  logError(services, errorResponse, request);
  if (response.headersSent) {
    response.destroy(); // the only way to report an error within a response
    return;
  }
  response.once('finish', () => drain(request.message));
  for (const name of contentHeaders) reply.removeHeader(name);
  const body = JSON.stringify(errorResponse.body);
  reply
    .headers({
      ...errorHeaders,
      'content-type': format.contentType,
      'x-request-id': request.id,
      ...errorResponse.headers,
    })
    .headers(isOpen ? corsHeaders : {})
    .header('content-length', Buffer.byteLength(body));
  response.writeHead(errorResponse.status, reply.fields).end(request.method === 'HEAD' ? undefined : body);
}

/** Header fields that a handler may have set before it failed, and that error responses must not have. */
const contentHeaders = [
  'accept-ranges',
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'repr-digest',
] as const;

/** Converts the lack of file descriptors to `unavailable`. Returns other errors unchanged. */
function asUnavailable(error: unknown): unknown {
  return isOutOfFileDescriptors(error)
    ? unavailable('The server has too many connections and files open. Try again shortly.', 1, error)
    : error;
}

/** Returns the log fields of a request: its id, its route, and its trace. */
export function requestLogFields({ traces }: Services, request: Request) {
  return { requestId: request.id, route: routeName(request), ...traces?.idsOf(request.message) };
}

/** Returns the route's template, not the path, which may contain a guest key or an id. */
function routeName(request: Request): string {
  return `${request.method} ${request.route?.path ?? '(none)'}`;
}

/** Logs server errors with their cause, and client errors without data from the request. */
function logError(services: Services, errorResponse: ErrorResponse, request: Request): void {
  const { status, code, cause, isRoutine = status === 401 || status === 404 || status === 405 } = errorResponse;
  services.traces?.failed(request.message, status, code);
  const line = { ...requestLogFields(services, request), status, code };
  if (status >= 500) services.log.error({ ...line, err: cause }, 'request failed');
  else if (isRoutine) services.log.debug(line, 'request rejected');
  else services.log.info(line, 'request rejected');
}

/** Limits for reading the rest of a rejected body. */
const maxDrainBytes = 256 * 1024 * 1024;
const maxDrainMs = 30_000;

/**
 * Reads and discards the rest of a body, within limits. Closing at once would reset the connection of a client that is still sending, and
 * many clients then drop the response unread.
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
