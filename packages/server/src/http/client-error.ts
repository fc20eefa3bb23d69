import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '@tenon/protocol';
import type { Services } from '../services.ts';
import { corsHeaders } from './cors.ts';
import { DomainError } from './domain-errors.ts';
import type { ErrorFormat } from './http-error.ts';
import { STATUS_CODES } from './node-http.ts';
import { errorHeaders, problemFormat } from './problem.ts';

/** How long a client may take to read the response with which its connection ends, in milliseconds. */
const lastResponseMs = 2000;

/**
 * Answers what Node's parser refuses, for which there is no response that can be used: on the bare socket.
 *
 * @param pendingResponse the response that is owed on the connection, if the request came far enough to have one
 * @param errorFormatAt how errors are put at a target
 */
export function sendClientError(
  services: Services,
  error: Error & { code?: string },
  socket: Socket,
  pendingResponse: ServerResponse | undefined,
  errorFormatAt: (target: string) => ErrorFormat | undefined,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, detail } = describeParserError(error.code);
  services.log.info({ code, parserCode: error.code }, 'request refused');
  // A response that is under way can't be told from this one: the connection is all that can be ended.
  if (pendingResponse?.headersSent === true) {
    socket.destroy();
    return;
  }
  const form = errorFormatAt(pendingResponse?.req.url ?? '') ?? problemFormat;
  endWith(socket, serializeResponse(services, new DomainError(code, detail), form));
}

/** Ends a connection with a whole response. A client that doesn't close it as well, having read that, loses it soon. */
function endWith(socket: Socket, response: string): void {
  socket.on('error', () => {}); // the client may have gone already
  socket.resume(); // a request that is left unread would have the response thrown away with it
  socket.end(response);
  const timer = setTimeout(() => socket.destroy(), lastResponseMs);
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
}

function serializeResponse({ addresses }: Services, error: DomainError, form: ErrorFormat): string {
  const { status, headers, body } = form.toResponse(error, addresses.base());
  const json = JSON.stringify(body);
  const fields = Object.entries({
    ...errorHeaders,
    ...corsHeaders,
    ...headers,
    'content-type': form.contentType,
    connection: 'close',
    'content-length': String(Buffer.byteLength(json)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${json}`;
}

function describeParserError(parserCode: string | undefined): { code: ErrorCode; detail: string } {
  switch (parserCode) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'headers_too_large', detail: 'The request line and header fields are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', detail: 'The request took too long to come.' };
    default:
      return { code: 'invalid_request', detail: 'This is not an HTTP request that can be read.' };
  }
}
