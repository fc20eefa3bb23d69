import { TraceError } from '../errors.ts';
import { encodeJson, encodeProtobuf } from './encode.ts';
import { defaultRetry, type OtlpEnvironment, type OtlpOptions, type OtlpRetry } from './options.ts';
import { type PartialSuccess, readFailure, readPartialSuccess } from './response.ts';
import type { MessageSchema } from './schema.ts';

/** Sends requests to a collector, and retries those that may succeed later. */
export interface Transport {
  /**
   * @throws DeliveryFailure if the collector refused it, or the last attempt failed
   */
  send(message: object): Promise<PartialSuccess>;
  /** Aborts the current request and all later ones. */
  abort(): void;
}

/** Why a request was not delivered. Callers of this package get a {@link TraceError} with this as its cause. */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';
  /** The status of the last response, if any. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}

const maxResponseBytes = 65_536;

const retryable = new Set([429, 502, 503, 504]);

/** The result of one attempt. */
type Attempt =
  | { readonly kind: 'taken'; readonly partial: PartialSuccess }
  | { readonly kind: 'failed'; readonly failure: DeliveryFailure; readonly retryAfterMs?: number | undefined }
  | { readonly kind: 'refused'; readonly failure: DeliveryFailure };

export function createTransport(schema: MessageSchema, options: OtlpOptions, environment: OtlpEnvironment): Transport {
  const url = options.url ?? tracesUrl(options.endpoint ?? 'http://localhost:4318');
  const retry: OtlpRetry = { ...defaultRetry, ...options.retry };
  const closing = new AbortController();

  async function send(message: object): Promise<PartialSuccess> {
    const body = await encode(message, schema, options);
    for (let attempt = 1; ; attempt++) {
      const result = await attemptOnce(url, body, options, environment, closing.signal);
      if (result.kind === 'taken') return result.partial;
      if (result.kind === 'refused') throw result.failure;
      const { retryAfterMs = 0 } = result;
      if (attempt >= retry.maxAttempts || retryAfterMs > retry.maxRetryAfterMs) throw result.failure;
      const delayMs = Math.max(retryAfterMs, backoff(attempt, retry, environment.random()));
      await wait(delayMs, environment, closing.signal);
      if (closing.signal.aborted) throw result.failure;
    }
  }

  return { send, abort: () => closing.abort() };
}

/** `base` may end in a slash, and may have a path and a query, which some services require. */
function tracesUrl(base: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

/** Exponential backoff, with jitter between half the delay and the whole. */
function backoff(attempt: number, { initialDelayMs, maxDelayMs }: OtlpRetry, random: number): number {
  const delayMs = Math.min(initialDelayMs * 2 ** (attempt - 1), maxDelayMs);
  return delayMs * (0.5 + random / 2);
}

async function encode(message: object, schema: MessageSchema, options: OtlpOptions): Promise<Uint8Array<ArrayBuffer>> {
  const bytes =
    options.protocol === 'http/json' ? new TextEncoder().encode(encodeJson(message)) : encodeProtobuf(message, schema);
  if (options.compression !== 'gzip') return bytes;
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}

async function attemptOnce(
  url: string,
  body: Uint8Array<ArrayBuffer>,
  options: OtlpOptions,
  environment: OtlpEnvironment,
  closing: AbortSignal,
): Promise<Attempt> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const attempt = new AbortController();
  const cancel = environment.schedule(() => attempt.abort(), timeoutMs, true);
  const abort = () => attempt.abort();
  closing.addEventListener('abort', abort);
  try {
    closing.throwIfAborted();
    const headers = await headersOf(options);
    const response = await environment.fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: attempt.signal,
      // A redirect would send the headers, which may contain a key, to another server.
      redirect: 'manual',
      credentials: 'omit',
      cache: 'no-store',
    });
    return await judge(response, environment.now());
  } catch (cause) {
    return { kind: 'failed', failure: unreachable(cause, attempt.signal, closing, timeoutMs) };
  } finally {
    cancel();
    closing.removeEventListener('abort', abort);
  }
}

async function headersOf(options: OtlpOptions): Promise<Headers> {
  const own = typeof options.headers === 'function' ? await options.headers() : options.headers;
  const headers = new Headers(own);
  headers.set('content-type', options.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf');
  if (options.compression === 'gzip') headers.set('content-encoding', 'gzip');
  return headers;
}

function unreachable(cause: unknown, attempt: AbortSignal, closing: AbortSignal, timeoutMs: number): DeliveryFailure {
  if (closing.aborted) return new DeliveryFailure('was aborted at shutdown', undefined, cause);
  if (attempt.aborted) return new DeliveryFailure(`had no response within ${timeoutMs} ms`, undefined, cause);
  return new DeliveryFailure(`did not reach it: ${describe(cause)}`, undefined, cause);
}

/** `fetch` hides its reason in the cause. */
function describe(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error && cause.message !== '' ? cause.message : String(error);
}

async function judge(response: Response, nowMs: number): Promise<Attempt> {
  const contentType = response.headers.get('content-type') ?? '';
  const body = await readLimited(response);
  if (response.ok) return { kind: 'taken', partial: readPartialSuccess(body, contentType) };
  const reason = readFailure(body, contentType);
  // Browsers hide the status of a redirect.
  const status = response.type === 'opaqueredirect' ? 'a redirect' : `${response.status}`;
  const failure = new DeliveryFailure(`was answered with ${status}${reason && `: ${reason}`}`, response.status);
  if (!retryable.has(response.status)) return { kind: 'refused', failure };
  return { kind: 'failed', failure, retryAfterMs: retryAfter(response.headers.get('retry-after'), nowMs) };
}

/** Reads a response up to a limit; a longer one counts as empty. */
async function readLimited(response: Response): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  while (length <= maxResponseBytes) {
    const { done, value } = await reader.read();
    if (done) return concatenate(chunks, length);
    chunks.push(value);
    length += value.length;
  }
  await reader.cancel();
  return new Uint8Array();
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 */
function retryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const dateMs = Date.parse(header);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Resolves after the delay, or when `closing` aborts. */
function wait(delayMs: number, environment: OtlpEnvironment, closing: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (closing.aborted) return resolve();
    const cancel = environment.schedule(done, delayMs, true);
    closing.addEventListener('abort', done);
    function done() {
      cancel();
      closing.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** Reports a failure to the listener. Errors of the listener are ignored. */
export function report(options: OtlpOptions, error: TraceError): void {
  try {
    options.onError?.(error);
  } catch {
    // The listener got the error.
  }
}

/** The error that callers get. */
export function exportFailed(what: string, cause: unknown): TraceError {
  const reason = cause instanceof DeliveryFailure ? cause.message : `failed: ${describe(cause)}`;
  return new TraceError('export_failed', `Sending ${what} ${reason}`, { cause });
}
