import { gzipSync } from 'node:zlib';
import type { Answer, Exchange, Responder } from './fake-server.ts';
import { problem } from './fake-server.ts';

/* Responses of a server, or of a proxy in front of it, that misbehaves. */

/** Responds with an error and a problem document. */
export const failWith =
  (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Responder =>
  ({ send }) =>
    send(problem(status, code, headers));

/** Responds with the page of a proxy. */
export const showPage =
  (status: number): Responder =>
  ({ send }) =>
    send({
      status,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from('<!doctype html><title>Sign in</title>'),
    });

/** Responds with another body, whose headers fit it. */
export const withBody =
  (change: (body: Buffer) => Uint8Array): Responder =>
  ({ answer, send }) =>
    send({ ...answer, body: Buffer.from(change(answer.body)) });

/** Responds with more or other headers. */
export const withHeaders =
  (headers: Readonly<Record<string, string>>): Responder =>
  ({ answer, send }) =>
    send({ ...answer, headers: { ...answer.headers, ...headers } });

export const redirectTo =
  (status: number, location: () => string): Responder =>
  ({ send }) =>
    send({ status, headers: { location: location() }, body: Buffer.alloc(0) });

/** Accepts the request and never responds. */
export const hang: Responder = () => {};

/** Sends the headers and half of the body, then nothing. */
export const stall: Responder = ({ socket, answer }) => {
  socket.write(head(answer, { 'content-length': String(answer.body.length) }));
  socket.write(halfOf(answer.body));
};

/** Resets the connection instead of a response. */
export const reset: Responder = ({ socket }) => void socket.resetAndDestroy();

/** Resets the connection after half of the body. */
export const resetInBody: Responder = (exchange) => {
  stall(exchange);
  setTimeout(() => exchange.socket.resetAndDestroy(), 50); // a reset discards what is not sent yet
};

/** Closes the connection after half of the body, which `content-length` gives in full. */
export const truncate: Responder = ({ socket, answer }) => {
  socket.end(
    Buffer.concat([Buffer.from(head(answer, { 'content-length': String(answer.body.length) })), halfOf(answer.body)]),
  );
};

/** Closes the connection after half of a chunked body, without the last chunk. */
export const truncateChunks: Responder = ({ socket, answer }) => {
  const half = halfOf(answer.body);
  const chunk = [Buffer.from(`${half.length.toString(16)}\r\n`), half, Buffer.from('\r\n')];
  socket.end(Buffer.concat([Buffer.from(head(answer, { 'transfer-encoding': 'chunked' })), ...chunk]));
};

/** Sends a body of unknown length in small chunks. */
export const sendInChunks: Responder = ({ response, answer }) => {
  response.writeHead(answer.status, answer.headers);
  for (let at = 0; at < answer.body.length; at += 100) response.write(answer.body.subarray(at, at + 100));
  response.end();
};

/** Sends the body in eight pieces, one every 400 ms. */
export const dribble: Responder = ({ response, answer }) => {
  response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length });
  const size = Math.ceil(answer.body.length / 8);
  const next = (at: number): void => {
    response.write(answer.body.subarray(at, at + size));
    if (at + size >= answer.body.length) response.end();
    else setTimeout(next, 400, at + size);
  };
  next(0);
};

/** Sends bytes that are not HTTP. */
export const sendGarbage: Responder = ({ socket }) => void socket.end('\x16\x03\x01\x00\xa5 this is not HTTP\r\n\r\n');

/** Compresses the body if the client accepts it. */
export const compressIfAccepted: Responder = ({ request, answer, send }) => {
  const isAccepted = /\bgzip\b/.test(String(request.headers['accept-encoding']));
  send(isAccepted ? compressed(answer) : answer);
};

/** Compresses the body, whether the client accepts it or not. */
export const compressAlways: Responder = ({ answer, send }) => send(compressed(answer));

/** Sends a body without an end. @param onBytes gets the number of bytes that the connection has accepted */
export const sendEndlessly =
  (onBytes: (bytes: number) => void): Responder =>
  ({ response, answer }: Exchange) => {
    response.writeHead(answer.status, answer.headers);
    const piece = Buffer.alloc(1024 * 1024, ' ');
    let sent = 0;
    const next = (): void => {
      if (response.destroyed) return;
      const hasRoom = response.write(piece);
      sent += piece.length;
      onBytes(sent);
      if (hasRoom) setImmediate(next);
      else response.once('drain', next);
    };
    next();
  };

function compressed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' }, body: gzipSync(answer.body) };
}

function halfOf(body: Buffer): Buffer {
  return body.subarray(0, Math.floor(body.length / 2));
}

function head({ status, headers }: Answer, more: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...headers, ...more, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} Fault\r\n${lines.join('')}\r\n`;
}
