import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '@tenon/protocol';
import { DomainError } from '../domain/errors.ts';
import { refuse } from './connections.ts';
import { corsHeaders } from './cors.ts';
import type { ErrorForm } from './error-form.ts';
import type { Parts } from './parts.ts';
import { errorHeaders, problemForm } from './problem.ts';

/** What Node keeps at a socket of the answer that it owes, once a request's header was read. */
interface AnsweringSocket extends Socket {
  readonly _httpMessage?: { readonly headersSent: boolean; readonly req?: IncomingMessage } | null;
}

/**
 * Answers what Node's parser refuses, for which there is no response that can be used: on the bare socket.
 *
 * @param formAt how errors are put at a path, if the request came far enough to have one
 */
export function answerClientError(
  parts: Parts,
  error: Error & { code?: string },
  socket: AnsweringSocket,
  formAt: (target: string) => ErrorForm | undefined,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, detail } = meaning(error.code);
  parts.log.info({ code, parserCode: error.code }, 'request refused');
  // An answer that is under way can't be told from this one: the connection is all that can be ended.
  const owed = socket._httpMessage;
  if (owed?.headersSent === true) {
    socket.destroy();
    return;
  }
  const form = formAt(owed?.req?.url ?? '') ?? problemForm;
  refuse(socket, bareAnswer(parts, new DomainError(code, detail), form));
}

/** An error as a whole answer, for a connection that ends with it. */
export function bareAnswer({ addresses }: Pick<Parts, 'addresses'>, error: DomainError, form = problemForm): string {
  const { status, headers, body } = form.answer(error, addresses.base());
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

function meaning(parserCode: string | undefined): { code: ErrorCode; detail: string } {
  switch (parserCode) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'headers_too_large', detail: 'The request line and header fields are too large.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', detail: 'The request took too long to come.' };
    default:
      return { code: 'invalid_request', detail: 'This is not an HTTP request that can be read.' };
  }
}
