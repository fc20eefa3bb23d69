import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '@tenon/protocol';
import { DomainError } from '../domain/errors.ts';
import { corsHeaders } from './cors.ts';
import type { Parts } from './parts.ts';
import { errorHeaders, problemForm } from './problem.ts';

/** Answers what Node's parser refuses, for which there is neither a request nor a response: on the bare socket. */
export function answerClientError(parts: Parts, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, detail } = meaning(error.code);
  parts.log.info({ code, parserCode: error.code }, 'request refused');
  // An answer that is under way can't be told from this one: the connection is all that can be ended.
  const hasAnswered =
    (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
  if (hasAnswered) {
    socket.destroy();
    return;
  }
  const answer = problemForm.answer(new DomainError(code, detail), parts.addresses.base());
  const { status } = answer;
  const body = JSON.stringify(answer.body);
  const fields = Object.entries({
    ...errorHeaders,
    ...corsHeaders,
    'content-type': problemForm.contentType,
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`);
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
