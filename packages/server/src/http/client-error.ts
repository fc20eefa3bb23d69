import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '@tenon/protocol';
import type { Services } from '../services.ts';
import { corsHeaders } from './cors.ts';
import { DomainError } from './domain-errors.ts';
import type { ErrorFormat } from './http-error.ts';
import { STATUS_CODES } from './node-http.ts';
import { errorHeaders, problemFormat } from './problem.ts';

/** How long the client may take to read the response before the server closes the connection. */
const lastResponseMs = 2000;

/**
 * Responds to a request that Node's HTTP parser rejects. Writes to the socket, because there is no `ServerResponse` for it.
 *
 * @param pendingResponse the unfinished response of an earlier request on the connection, or of this one if its header was valid
 * @param errorFormatAt returns the error format of the route at a target
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
  services.log.info({ code, parserCode: error.code }, 'request rejected');
  // The client could not distinguish this response from the rest of the pending one.
  if (pendingResponse?.headersSent === true) {
    socket.destroy();
    return;
  }
  const format = errorFormatAt(pendingResponse?.req.url ?? '') ?? problemFormat;
  endConnection(socket, serializeResponse(services, new DomainError(code, detail), format));
}

/** Sends a response and closes the connection, at the latest after `lastResponseMs`. */
function endConnection(socket: Socket, response: string): void {
  socket.on('error', () => {}); // the client may have disconnected already
  socket.resume(); // unread data would make the kernel reset the connection and discard the response
  socket.end(response);
  const timer = setTimeout(() => socket.destroy(), lastResponseMs);
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
}

function serializeResponse({ addresses }: Services, error: DomainError, format: ErrorFormat): string {
  const { status, headers, body } = format.toResponse(error, addresses.base());
  const json = JSON.stringify(body);
  const fields = Object.entries({
    ...errorHeaders,
    ...corsHeaders,
    ...headers,
    'content-type': format.contentType,
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
      return { code: 'request_timeout', detail: 'The request did not arrive in time.' };
    default:
      return { code: 'invalid_request', detail: 'The request is not valid HTTP.' };
  }
}
