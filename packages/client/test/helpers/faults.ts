import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Fault, resetConnection } from '../../../../test/helpers/fault-proxy.ts';

/** A fault of a server, or of a proxy in front of it. Times are in milliseconds. */
export type ResponseFault =
  /** Resets the connection after the request. */
  | { readonly kind: 'refuse' }
  /** Resets the connection after the headers or half of the body. */
  | { readonly kind: 'reset'; readonly after: 'fields' | 'half' }
  /** Closes the connection without a response. */
  | { readonly kind: 'close' }
  /** Never responds. */
  | { readonly kind: 'hang' }
  /** Responds correctly, but late. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Sends the headers and half of the body, then nothing. */
  | { readonly kind: 'stall' }
  /** Responds correctly, in chunks with a pause before each. */
  | { readonly kind: 'dribble'; readonly pieces: number; readonly everyMs: number }
  /** Sends half of the body. `shortened` adapts `content-length` and `close` omits it, so HTTP alone detects neither. */
  | { readonly kind: 'truncate'; readonly framing: 'content-length' | 'chunked' | 'close' | 'shortened' }
  /** Responds with another status and a problem document or a proxy's page. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string; readonly page?: boolean }
  /** Responds with the right headers and one wrong bit. */
  | { readonly kind: 'bit' }
  /** Responds with 200 and these bytes. */
  | { readonly kind: 'body'; readonly contentType: string; readonly body: string }
  /** Sends another ETag, or none if `undefined`. */
  | { readonly kind: 'etag'; readonly value: string | undefined }
  /** Responds with 304 to any request. */
  | { readonly kind: 'notModified'; readonly etag: string | undefined }
  /** Sends bytes that are not HTTP. */
  | { readonly kind: 'garbage' }
  /** Sends a wrong `content-encoding`. */
  | { readonly kind: 'coding' }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  /** An endless body. */
  | { readonly kind: 'endless' };

/** The response of the upstream server. */
interface Answer {
  readonly status: number;
  /** Without hop-by-hop fields and `content-length`. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** The fault, for a fault proxy. */
export function responseFault(fault: ResponseFault): Fault {
  return async ({ response, forward }) => {
    const { status, headers, body } = await forward();
    const fields = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ''] as const] : []));
    const answer = { status, fields: fields.filter(([name]) => name !== 'content-length'), body };
    sendWithFault(fault, answer, response);
  };
}

function sendWithFault(fault: ResponseFault, answer: Answer, response: ServerResponse): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  const half = answer.body.subarray(0, Math.floor(answer.body.length / 2));
  switch (fault.kind) {
    case 'refuse':
      resetConnection(socket);
      return;
    case 'reset':
      socket.write(head(answer, [['content-length', String(answer.body.length)]]));
      // A reset discards unsent data, so wait until the headers or half of the body are sent.
      if (fault.after === 'half') socket.write(half);
      later(socket, 5, () => resetConnection(socket));
      return;
    case 'close':
      socket.end();
      return;
    case 'hang':
      return;
    case 'late':
      later(socket, fault.ms, () => send(response, answer));
      return;
    case 'stall':
      socket.write(head(answer, [['content-length', String(answer.body.length)]]));
      socket.write(half);
      return;
    case 'dribble':
      dribble(response, answer, fault);
      return;
    case 'truncate':
      truncate(socket, answer, half, fault.framing);
      return;
    case 'status':
      send(response, failure(fault));
      return;
    case 'bit':
      send(response, { ...answer, body: withWrongBit(answer.body) });
      return;
    case 'body':
      send(response, { ...answer, status: 200, ...bodyOf(fault.contentType, fault.body) });
      return;
    case 'etag':
      send(response, { ...answer, fields: withEtag(answer.fields, fault.value) });
      return;
    case 'notModified':
      send(response, { status: 304, fields: withEtag(answer.fields, fault.etag), body: Buffer.alloc(0) });
      return;
    case 'garbage':
      socket.end('\x16\x03\x01\x00\xa5 this is not HTTP\r\n\r\n');
      return;
    case 'coding':
      send(response, { ...answer, fields: [...answer.fields, ['content-encoding', 'gzip']] });
      return;
    case 'redirect':
      send(response, { status: fault.status, fields: [['location', fault.location]], body: Buffer.alloc(0) });
      return;
    case 'endless':
      endless(response, answer);
      return;
  }
}

function send(response: ServerResponse, { status, fields, body }: Answer): void {
  if (response.destroyed || response.req.socket.destroyed) return;
  const bodyless = status === 304 || status === 204;
  const length: [string, string][] = bodyless ? [] : [['content-length', String(body.length)]];
  response.writeHead(status, [...fields.filter(([name]) => name !== 'content-length'), ...length].flat());
  response.end(bodyless ? undefined : body);
}

function truncate(socket: Socket, answer: Answer, half: Buffer, framing: string): void {
  const connection: [string, string] = ['connection', 'close'];
  if (framing === 'chunked') {
    socket.write(head(answer, [['transfer-encoding', 'chunked'], connection]));
    socket.write(`${half.length.toString(16)}\r\n`);
    if (half.length > 0) socket.write(half);
    socket.end('\r\n'); // and no last chunk
    return;
  }
  const length = framing === 'shortened' ? half.length : answer.body.length;
  const fields: [string, string][] = framing === 'close' ? [] : [['content-length', String(length)]];
  socket.write(head(answer, [...fields, connection]));
  socket.end(half);
}

function dribble(response: ServerResponse, answer: Answer, fault: { pieces: number; everyMs: number }): void {
  const { socket } = response.req;
  response.writeHead(answer.status, [...answer.fields, ['content-length', String(answer.body.length)]].flat());
  response.flushHeaders();
  const size = Math.max(1, Math.ceil(answer.body.length / fault.pieces));
  const next = (at: number): void => {
    const isLast = at + size >= answer.body.length;
    if (isLast) response.end(answer.body.subarray(at));
    else response.write(answer.body.subarray(at, at + size));
    if (!isLast) later(socket, fault.everyMs, () => next(at + size));
  };
  later(socket, fault.everyMs, () => next(0));
}

function endless(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, answer.fields.filter(([name]) => name !== 'content-length').flat());
  const piece = Buffer.alloc(65_536, 0x20);
  const next = (): void => {
    if (response.req.socket.destroyed) return;
    if (response.write(piece)) setImmediate(next);
    else response.once('drain', next);
  };
  next();
}

/** Runs work later, unless the socket is closed by then. */
function later(socket: Socket, ms: number, run: () => void): void {
  const timer = setTimeout(() => {
    socket.off('close', stop);
    run();
  }, ms);
  const stop = (): void => clearTimeout(timer);
  socket.once('close', stop);
}

function head({ status, fields }: Answer, more: readonly (readonly [string, string])[]): string {
  const lines = [...fields, ...more].map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`;
}

function failure({ status, retryAfter, page = false }: Extract<ResponseFault, { kind: 'status' }>): Answer {
  const problem = { type: 'about:blank', title: 'Broken', status, code: problemCodes[status] ?? 'broken' };
  const content = page
    ? bodyOf('text/html', `<!doctype html><title>${status}</title><h1>Bad gateway</h1>`)
    : bodyOf('application/problem+json', JSON.stringify(problem));
  return {
    status,
    ...content,
    fields: [...content.fields, ...(retryAfter ? [['retry-after', retryAfter] as const] : [])],
  };
}

const problemCodes: Readonly<Record<number, string>> = {
  401: 'invalid_token',
  403: 'forbidden',
  404: 'not_found',
  429: 'rate_limited',
  500: 'internal',
  503: 'unavailable',
};

function bodyOf(contentType: string, text: string): Pick<Answer, 'fields' | 'body'> {
  return { fields: [['content-type', contentType]], body: Buffer.from(text) };
}

function withWrongBit(body: Buffer): Buffer {
  const wrong = Buffer.from(body);
  const at = Math.floor(wrong.length * 0.7);
  if (wrong.length > 0) wrong[at] = (wrong[at] ?? 0) ^ 1;
  return wrong;
}

function withEtag(fields: Answer['fields'], value: string | undefined): Answer['fields'] {
  const others = fields.filter(([name]) => name !== 'etag');
  return value === undefined ? others : [...others, ['etag', value]];
}
