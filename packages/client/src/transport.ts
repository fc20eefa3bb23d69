import { createDeadline, type Deadline } from './deadline.ts';
import { ClientError } from './errors.ts';
import type { Emitter, Operation } from './events.ts';
import { isSendable, type Settings } from './options.ts';
import { refusalOf } from './refusal.ts';

/** A request to send: always a GET. */
export interface Outgoing {
  readonly operation: Operation;
  /** Below the base URL; begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** What browsers' own cache may do. */
  readonly cache: 'default' | 'no-store' | 'reload';
  readonly attempt: number;
}

/** An answer with all of its body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Sends requests with the token, once each, within the time that they may take. */
export interface Transport {
  /**
   * Answers 200, and 304 where `if-none-match` was sent; everything else rejects.
   *
   * @throws ClientError
   */
  exchange(request: Outgoing, caller: AbortSignal): Promise<Answer>;
  /**
   * Opens a stream, whose body the caller reads without any time-out of ours. The answer is a 200.
   *
   * @throws ClientError
   */
  open(request: Outgoing, caller: AbortSignal): Promise<OpenStream>;
}

export interface OpenStream {
  readonly response: Response;
  /** Ends the connection. To be called in any case. */
  close(): void;
}

const longestRefusalBytes = 64 * 1024;

export function createTransport(settings: Settings, events: Emitter): Transport {
  const { clock, timeouts } = settings;
  let isTokenRefused = false;

  async function tokenFor(signal: AbortSignal): Promise<string> {
    let token: string;
    try {
      token = await settings.token({ isRefused: isTokenRefused, signal });
    } catch (cause) {
      throw new ClientError('token_unavailable', 'The token function threw', { cause });
    }
    if (!isSendable(token)) throw new ClientError('token_unavailable', 'The token function gave no access token');
    return token;
  }

  /** Until the headers of a good answer are here. */
  async function send(request: Outgoing, deadline: Deadline, seen: Seen): Promise<Response> {
    deadline.begin('to begin its answer', timeouts.headersMs);
    const token = await deadline.within(tokenFor(deadline.signal));
    const response = await deadline.within(
      settings.fetch(settings.baseUrl + request.path, {
        ...platformOptions(request.cache),
        headers: { ...request.headers, authorization: `Bearer ${token}` },
        // Whoever is redirected to would get the token.
        redirect: 'manual',
        signal: deadline.signal,
      }),
    );
    seen.status = response.status;
    isTokenRefused = response.status === 401;
    deadline.begin('between two pieces of its answer', timeouts.idleMs);
    if (response.status === 200 || (response.status === 304 && 'if-none-match' in request.headers)) return response;
    // A refusal counts even when its body is cut off, or too long.
    const body = await readBody(response, longestRefusalBytes, deadline, seen, timeouts.idleMs).catch(() => undefined);
    throw refusalOf(response, body, clock);
  }

  async function observed<T>(request: Outgoing, caller: AbortSignal, work: (d: Deadline, s: Seen) => Promise<T>) {
    const startedMs = clock.monotonicMs();
    const startedAtMs = clock.wallMs();
    const deadline = createDeadline(clock, timeouts.totalMs, caller);
    const seen: Seen = { status: undefined, receivedBytes: 0 };
    let error: ClientError | undefined;
    try {
      return await work(deadline, seen);
    } catch (cause) {
      error = deadline.signal.aborted ? (deadline.signal.reason as ClientError) : asClientError(cause);
      // Whatever is still on its way for this request is no use any more.
      deadline.abort(error);
      deadline.end();
      throw error;
    } finally {
      const { operation, attempt } = request;
      const durationMs = clock.monotonicMs() - startedMs;
      events.emit('request', { operation, attempt, startedAtMs, durationMs, ...seen, error });
    }
  }

  return {
    exchange: (request, caller) =>
      observed(request, caller, async (deadline, seen) => {
        const response = await send(request, deadline, seen);
        const { status, headers } = response;
        const bytes =
          status === 304
            ? new Uint8Array()
            : await readBody(response, request.maxBytes, deadline, seen, timeouts.idleMs);
        deadline.end();
        return { status, headers, bytes };
      }),
    open: (request, caller) =>
      observed(request, caller, async (deadline, seen) => {
        const response = await send(request, deadline, seen);
        deadline.rest();
        const close = () => {
          deadline.abort(new ClientError('aborted', 'The stream was closed'));
          deadline.end();
        };
        return { response, close };
      }),
  };
}

/** What was seen of an answer. */
interface Seen {
  status: number | undefined;
  receivedBytes: number;
}

async function readBody(
  response: Response,
  maxBytes: number,
  deadline: Deadline,
  seen: Seen,
  idleMs: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await deadline.within(reader.read());
    if (done) return joined(chunks, seen.receivedBytes);
    deadline.begin('between two pieces of its answer', idleMs);
    seen.receivedBytes += value.length;
    if (seen.receivedBytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooLarge(maxBytes: number): ClientError {
  return new ClientError('too_large', `The answer has more than the ${maxBytes} bytes that the limits allow`);
}

/** Every error of `fetch` and of reading what it gave is one of the network: what is sent was checked before. */
function asClientError(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  return new ClientError('network', 'There is no connection to the server, or it broke', { cause: error });
}

/** What browsers need to be told, and some platforms' `fetch` refuses to be. */
function platformOptions(cache: Outgoing['cache']): RequestInit {
  const known = typeof Request === 'function' ? Request.prototype : {};
  return {
    ...('cache' in known ? { cache } : {}),
    ...('credentials' in known ? { credentials: 'omit' } : {}),
  };
}
