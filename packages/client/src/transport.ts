import { clearBody, continuesBody, emptyBody, type PartialBody, type ResponseStats, readBody } from './body.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { ClientError } from './errors.ts';
import type { Emitter, Operation, TraceHeaders } from './events.ts';
import { isSendable, type Settings } from './options.ts';
import { responseError } from './response-error.ts';
import { createSingleflight } from './singleflight.ts';
import { version } from './version.ts';

/** A GET request, or a POST request with a body. */
export interface TransportRequest {
  readonly operation: Operation;
  /** Below the base URL. Begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly maxBytes: number;
  /** What the browser's own cache may do. */
  readonly cache: 'default' | 'no-store' | 'reload';
  readonly attempt: number;
  /** The part of a content that an earlier attempt received. The response includes it. */
  readonly partial?: { readonly body: PartialBody; readonly etag: string } | undefined;
}

/** A response with its whole body. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Sends each request once, with the token and within the timeouts. */
export interface Transport {
  /**
   * Returns a 200, a 304 to a conditional request, or a 206 to a range request. Rejects all others.
   *
   * @throws ClientError
   */
  exchange(request: TransportRequest, caller: AbortSignal): Promise<TransportResponse>;
  /**
   * Returns a 200 whose body the caller reads without a timeout.
   *
   * @throws ClientError
   */
  open(request: TransportRequest, caller: AbortSignal): Promise<OpenStream>;
}

export interface OpenStream {
  readonly response: Response;
  /** Closes the connection. The caller must call it. */
  close(): void;
}

const maxErrorBodyBytes = 64 * 1024;

export function createTransport(settings: Settings, events: Emitter): Transport {
  const { clock, timeouts } = settings;
  const tokens = createSingleflight();
  let isTokenRejected = false;

  async function getToken(signal: AbortSignal): Promise<string> {
    let token: string;
    try {
      token = await settings.token({ forceRefresh: isTokenRejected, signal });
    } catch (cause) {
      throw new ClientError('token_unavailable', 'The token function threw', { cause });
    }
    if (!isSendable(token)) throw new ClientError('token_unavailable', 'The token function returned no access token');
    return token;
  }

  /** Concurrent requests share one call of the token function: after a 401, hundreds may need a token. */
  function tokenFor(signal: AbortSignal): Promise<string> {
    if (!settings.canRefreshToken) return getToken(signal);
    return tokens.join(String(isTokenRejected), getToken).wait(signal);
  }

  /** Returns when the headers of a successful response have arrived. */
  async function send(request: TransportRequest, deadline: Deadline, stats: ResponseStats): Promise<Response> {
    deadline.begin('to respond', timeouts.headersMs);
    const token = await deadline.within(tokenFor(deadline.signal));
    const response = await deadline.within(
      settings.fetch(settings.baseUrl + request.path, {
        ...platformOptions(request.cache),
        ...(request.body === undefined ? {} : { method: 'POST', body: request.body }),
        headers: { ...userAgent(), ...request.headers, ...rangeHeaders(request), authorization: `Bearer ${token}` },
        // The target of a redirect would get the token.
        redirect: 'manual',
        signal: deadline.signal,
      }),
    );
    stats.status = response.status;
    isTokenRejected = response.status === 401;
    deadline.begin('between two chunks of its response', timeouts.idleMs);
    if (isSuccess(response, request)) return response;
    if (request.partial?.body.length && [206, 416].includes(response.status)) {
      clearBody(request.partial.body);
      throw new ClientError('network', 'The server did not resume the interrupted download');
    }
    const options = { maxBytes: maxErrorBodyBytes, idleMs: timeouts.idleMs, deadline, stats };
    const body = await readBody(response, emptyBody(), options).catch(() => undefined);
    throw responseError(response, body, clock);
  }

  async function observed<T>(
    request: TransportRequest,
    caller: AbortSignal,
    work: (request: TransportRequest, deadline: Deadline, stats: ResponseStats) => Promise<T>,
  ) {
    const { operation, attempt } = request;
    const startedMs = clock.monotonicMs();
    const startedAtMs = clock.wallMs();
    const deadline = createDeadline(clock, timeouts.totalMs, caller);
    const stats: ResponseStats = { status: undefined, receivedBytes: 0 };
    const headers: TraceHeaders = {};
    if (events.has('request')) events.emit('request', { operation, attempt, startedAtMs, headers });
    let error: ClientError | undefined;
    try {
      return await work(
        { ...request, headers: { ...request.headers, ...validTraceHeaders(headers) } },
        deadline,
        stats,
      );
    } catch (cause) {
      // An error response counts even if its body is incomplete or late.
      const hasStatus = cause instanceof ClientError && cause.status !== undefined;
      error = deadline.signal.aborted && !hasStatus ? (deadline.signal.reason as ClientError) : asClientError(cause);
      // Closes the connection if the response is still arriving.
      deadline.abort(error);
      deadline.end();
      throw error;
    } finally {
      const durationMs = clock.monotonicMs() - startedMs;
      events.emit('response', { operation, attempt, startedAtMs, durationMs, ...stats, error, headers });
    }
  }

  return {
    exchange: (outgoing, caller) =>
      observed(outgoing, caller, async (request, deadline, stats) => {
        const response = await send(request, deadline, stats);
        const { status, headers } = response;
        const { maxBytes, partial: { body } = { body: emptyBody() } } = request;
        if (!continuesBody(response, body)) clearBody(body);
        const bytes = await readBody(response, body, { maxBytes, idleMs: timeouts.idleMs, deadline, stats });
        deadline.end();
        return { status, headers, bytes };
      }),
    open: (outgoing, caller) =>
      observed(outgoing, caller, async (request, deadline, stats) => {
        const response = await send(request, deadline, stats);
        deadline.pause();
        const close = () => {
          deadline.abort(new ClientError('aborted', 'The stream was closed'));
          deadline.end();
        };
        return { response, close };
      }),
  };
}

/** Only valid values of listeners are sent: a listener must not make a request fail. */
function validTraceHeaders({ traceparent, tracestate }: TraceHeaders): Record<string, string> {
  if (!isFieldValue(traceparent)) return {};
  return isFieldValue(tracestate) ? { traceparent, tracestate } : { traceparent };
}

function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);
}

function isSuccess(response: Response, { headers, partial }: TransportRequest): boolean {
  if (response.status === 206) return partial !== undefined && continuesBody(response, partial.body);
  return response.status === 200 || (response.status === 304 && 'if-none-match' in headers);
}

/** Requests the rest of an interrupted download. */
function rangeHeaders({ partial }: TransportRequest): Record<string, string> {
  if (partial === undefined || partial.body.length === 0) return {};
  return { range: `bytes=${partial.body.length}-`, 'if-range': partial.etag };
}

/** Browsers send their own, and ask the server's permission (CORS) to send another one. */
function userAgent(): Record<string, string> {
  if (globalThis.navigator?.userAgent?.startsWith('Mozilla/')) return {};
  return { 'user-agent': `tenon-client/${version}` };
}

/** All errors of `fetch` and of the body are network errors, because the request was validated before. */
function asClientError(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  return new ClientError('network', 'The connection to the server failed', { cause: error });
}

/** Options for browsers, which the `fetch` of some platforms rejects. */
function platformOptions(cache: TransportRequest['cache']): RequestInit {
  const known = typeof Request === 'function' ? Request.prototype : {};
  return {
    ...('cache' in known ? { cache } : {}),
    ...('credentials' in known ? { credentials: 'omit' } : {}),
  };
}
