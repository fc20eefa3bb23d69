import { errorCodes } from '@tenon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TaskAbortedError, WorkersBusyError } from '../workers/module-workers.ts';
import { ClientGone } from './bodies/read-bytes.ts';
import { drain } from './drain.ts';
import { unavailable } from './http-error.ts';
import type { Parts } from './parts.ts';
import { asDomainError, errorHeaders, toProblem } from './problem.ts';

/** Answers an error as a problem document, and logs it as its kind demands. */
export function answerError(parts: Parts, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof ClientGone || error instanceof TaskAbortedError) {
    parts.log.debug({ requestId: request.id, route: routeOf(request) }, 'the client went away');
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  const meant = error instanceof WorkersBusyError ? busy(error) : error;
  logError(parts, meant, request);
  const { status, headers, problem } = toProblem(meant, parts.addresses.base());
  reply.raw.once('finish', () => drain(request.raw));
  void reply
    .code(status)
    .headers({ ...errorHeaders, 'x-request-id': request.id, ...headers })
    .send(Buffer.from(JSON.stringify(problem)));
}

function busy(error: WorkersBusyError): Error {
  return unavailable('All workers are busy and others wait already. Try again shortly.', error.retryAfterSeconds);
}

/** The route's template, never the path, which may hold a guest key or an id. */
export function routeOf(request: FastifyRequest): string {
  return `${request.method} ${request.routeOptions?.url ?? '(none)'}`;
}

/** The server's own failures with all that is known; what clients do wrong in a line, whose words hold nothing of theirs. */
function logError(parts: Parts, error: unknown, request: FastifyRequest): void {
  const { code, cause } = asDomainError(error);
  const { status } = errorCodes[code];
  const line = { requestId: request.id, route: routeOf(request), status, code };
  if (status >= 500) parts.log.error({ ...line, err: cause ?? error }, 'request failed');
  else if (status === 401 || status === 404 || status === 405) parts.log.debug(line, 'request refused');
  else parts.log.info(line, 'request refused');
}
