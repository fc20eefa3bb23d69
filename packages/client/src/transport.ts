import { continues, emptyBody, forgetBody, type PartialBody, readBody, type Seen } from './body.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { ClientError } from './errors.ts';
import type { Emitter, Operation, TraceHeaders } from './events.ts';
import { createFlights } from './flights.ts';
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
  /** For a content: what an earlier attempt got of it. The answer has that, too. */
  readonly partial?: { readonly body: PartialBody; readonly etag: string } | undefined;
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
   * Answers 200, 304 where `if-none-match` was sent, and 206 where the rest was asked for; everything else rejects.
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
  const tokens = createFlights();
  let isTokenRefused = false;

  async function askForToken(signal: AbortSignal): Promise<string> {
    let token: string;
    try {
      token = await settings.token({ isRefused: isTokenRefused, signal });
    } catch (cause) {
      throw new ClientError('token_unavailable', 'The token function threw', { cause });
    }
    if (!isSendable(token)) throw new ClientError('token_unavailable', 'The token function gave no access token');
    return token;
  }

  /** Who asks at the same time gets the same token: when one is refused, hundreds of requests may ask for another. */
  function tokenFor(signal: AbortSignal): Promise<string> {
    if (!settings.canRenewToken) return askForToken(signal);
    return tokens.join(String(isTokenRefused), askForToken).wait(signal);
  }

  /** Until the headers of a good answer are here. */
  async function send(request: Outgoing, deadline: Deadline, seen: Seen): Promise<Response> {
    deadline.begin('to begin its answer', timeouts.headersMs);
    const token = await deadline.within(tokenFor(deadline.signal));
    const response = await deadline.within(
      settings.fetch(settings.baseUrl + request.path, {
        ...platformOptions(request.cache),
        headers: { ...request.headers, ...rangeHeaders(request), authorization: `Bearer ${token}` },
        // Whoever is redirected to would get the token.
        redirect: 'manual',
        signal: deadline.signal,
      }),
    );
    seen.status = response.status;
    isTokenRefused = response.status === 401;
    deadline.begin('between two pieces of its answer', timeouts.idleMs);
    if (isGood(response, request)) return response;
    if (request.partial?.body.length && [206, 416].includes(response.status)) {
      forgetBody(request.partial.body);
      throw new ClientError('network', 'The server did not go on where its answer was cut off');
    }
    const reading = { maxBytes: longestRefusalBytes, idleMs: timeouts.idleMs, deadline, seen };
    const body = await readBody(response, emptyBody(), reading).catch(() => undefined);
    throw refusalOf(response, body, clock);
  }

  async function observed<T>(
    request: Outgoing,
    caller: AbortSignal,
    work: (request: Outgoing, d: Deadline, s: Seen) => Promise<T>,
  ) {
    const { operation, attempt } = request;
    const startedMs = clock.monotonicMs();
    const startedAtMs = clock.wallMs();
    const deadline = createDeadline(clock, timeouts.totalMs, caller);
    const seen: Seen = { status: undefined, receivedBytes: 0 };
    const headers: TraceHeaders = {};
    if (events.has('sending')) events.emit('sending', { operation, attempt, startedAtMs, headers });
    let error: ClientError | undefined;
    try {
      return await work({ ...request, headers: { ...request.headers, ...sendableOf(headers) } }, deadline, seen);
    } catch (cause) {
      // A refusal counts even when its body is cut off, or takes too long.
      const isRefusal = cause instanceof ClientError && cause.status !== undefined;
      error = deadline.signal.aborted && !isRefusal ? (deadline.signal.reason as ClientError) : asClientError(cause);
      // Whatever is still on its way for this request is no use any more.
      deadline.abort(error);
      deadline.end();
      throw error;
    } finally {
      const durationMs = clock.monotonicMs() - startedMs;
      events.emit('request', { operation, attempt, startedAtMs, durationMs, ...seen, error, headers });
    }
  }

  return {
    exchange: (asked, caller) =>
      observed(asked, caller, async (request, deadline, seen) => {
        const response = await send(request, deadline, seen);
        const { status, headers } = response;
        const { maxBytes, partial: { body } = { body: emptyBody() } } = request;
        if (!continues(response, body)) forgetBody(body);
        const bytes = await readBody(response, body, { maxBytes, idleMs: timeouts.idleMs, deadline, seen });
        deadline.end();
        return { status, headers, bytes };
      }),
    open: (asked, caller) =>
      observed(asked, caller, async (request, deadline, seen) => {
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

/** What is well-formed of what listeners have put there; a listener must not make a request fail. */
function sendableOf({ traceparent, tracestate }: TraceHeaders): Record<string, string> {
  if (!isFieldValue(traceparent)) return {};
  return isFieldValue(tracestate) ? { traceparent, tracestate } : { traceparent };
}

function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);
}

function isGood(response: Response, { headers, partial }: Outgoing): boolean {
  if (response.status === 206) return partial !== undefined && continues(response, partial.body);
  return response.status === 200 || (response.status === 304 && 'if-none-match' in headers);
}

/** Asks for the rest of what was cut off, and for all of it should it be another content by now, which it never is. */
function rangeHeaders({ partial }: Outgoing): Record<string, string> {
  if (partial === undefined || partial.body.length === 0) return {};
  return { range: `bytes=${partial.body.length}-`, 'if-range': partial.etag };
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
