import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function connectTo(base: string): Socket {
  const { hostname, port } = new URL(base);
  return connect({ host: hostname, port: Number(port) });
}

/** Sends a request's very bytes and reads the one answer, until the server closes or the body is whole. */
export async function exchange(base: string, request: string | Buffer): Promise<WireAnswer> {
  const socket = connectTo(base);
  socket.write(request);
  try {
    return await readAnswer(socket, /^HEAD /.test(request.toString('latin1', 0, 5)));
  } finally {
    socket.destroy();
  }
}

/** A request's head with its lines, and what follows it. */
export function requestOf(lines: readonly string[], body: string | Buffer = ''): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

/** Reads one answer off a socket. */
export async function readAnswer(socket: Socket, isHead = false): Promise<WireAnswer> {
  let received = Buffer.alloc(0);
  let ended = socket.destroyed;
  socket.on('error', () => {});
  const done = new Promise<WireAnswer>((resolve, reject) => {
    const look = (): void => {
      const answer = parseAnswer(received, ended, isHead);
      if (answer !== undefined) resolve(answer);
      else if (ended)
        reject(new Error(`The connection ended in the middle of an answer: ${received.toString('latin1')}`));
    };
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      look();
    });
    socket.once('close', () => {
      ended = true;
      look();
    });
    look();
  });
  return done;
}

function parseAnswer(received: Buffer, ended: boolean, isHead: boolean): WireAnswer | undefined {
  let from = 0;
  for (;;) {
    const headEnd = received.indexOf('\r\n\r\n', from);
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...lines] = received.toString('latin1', from, headEnd).split('\r\n');
    const status = Number(statusLine.split(' ')[1]);
    from = headEnd + 4;
    if (status === 100) continue; // the answer proper comes after it
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = isHead || status === 304 || status === 204 ? 0 : Number(headers['content-length'] ?? Number.NaN);
    const body = received.subarray(from);
    if (Number.isNaN(length)) return ended ? { status, headers, body } : undefined;
    return body.length >= length ? { status, headers, body: body.subarray(0, length) } : undefined;
  }
}

/** Resolves when a socket is closed, with whether it was in time. */
export async function closesWithin(socket: Socket, ms: number): Promise<boolean> {
  if (socket.destroyed) return true;
  const closed = once(socket, 'close').then(() => true);
  const late = new Promise<false>((resolve) => setTimeout(resolve, ms, false).unref());
  return Promise.race([closed, late]);
}

export function assertWireProblem(answer: WireAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.body.toString());
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  assert.equal(JSON.parse(answer.body.toString()).code, code);
}
