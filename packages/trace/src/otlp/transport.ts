import { TraceError } from '../errors.ts';
import { encodeJson, encodeProtobuf } from './encode.ts';
import { defaultRetry, type OtlpEnvironment, type OtlpOptions, type OtlpRetry } from './options.ts';
import { type PartialSuccess, readFailure, readPartialSuccess } from './response.ts';
import type { MessageSchema } from './schema.ts';

/** Takes requests to a collector, again where that may help. */
export interface Transport {
  /**
   * @throws DeliveryFailure where the collector did not take it, for good or after the last attempt
   */
  send(message: object): Promise<PartialSuccess>;
  /** Gives up what is on its way, and all that is sent from now on. */
  abort(): void;
}

/** Why a request was not delivered. Stays inside: others see a {@link TraceError} with it as its cause. */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';
  /** The status of the last answer; `undefined` where there was none. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}

/** Answers of 64 KiB say all that is to be said. */
const maxResponseBytes = 65_536;

const retryable = new Set([429, 502, 503, 504]);

/** What one attempt came to. */
type Attempt =
  | { readonly kind: 'taken'; readonly partial: PartialSuccess }
  | { readonly kind: 'failed'; readonly failure: DeliveryFailure; readonly retryAfterMs?: number | undefined }
  | { readonly kind: 'refused'; readonly failure: DeliveryFailure };

export function createTransport(
  path: '/v1/traces' | '/v1/metrics',
  schema: MessageSchema,
  options: OtlpOptions,
  environment: OtlpEnvironment,
): Transport {
  const url = options.url ?? below(options.endpoint ?? 'http://localhost:4318', path);
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
      const delayMs = Math.max(retryAfterMs, backOff(attempt, retry, environment.random()));
      await wait(delayMs, environment, closing.signal);
      if (closing.signal.aborted) throw result.failure;
    }
  }

  return { send, abort: () => closing.abort() };
}

/** `base` may end in a slash, have a path and a query, as some services want it. */
function below(base: string, path: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${path}`;
  return url.href;
}

/** From half to the whole of a delay that doubles, so that many hosts do not come back at once. */
function backOff(attempt: number, { initialDelayMs, maxDelayMs }: OtlpRetry, random: number): number {
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
  const give = () => attempt.abort();
  closing.addEventListener('abort', give);
  try {
    closing.throwIfAborted();
    const headers = await headersOf(options);
    const response = await environment.fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: attempt.signal,
      // A redirect would take the headers, and a key among them, to who knows whom.
      redirect: 'manual',
      credentials: 'omit',
      cache: 'no-store',
    });
    return await judge(response, environment.now());
  } catch (cause) {
    return { kind: 'failed', failure: unreachable(cause, attempt.signal, closing, timeoutMs) };
  } finally {
    cancel();
    closing.removeEventListener('abort', give);
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
  if (closing.aborted) return new DeliveryFailure('was given up at shutdown', undefined, cause);
  if (attempt.aborted) return new DeliveryFailure(`had no answer within ${timeoutMs} ms`, undefined, cause);
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
  // A browser does not say which status a redirect has.
  const status = response.type === 'opaqueredirect' ? 'a redirect' : `${response.status}`;
  const failure = new DeliveryFailure(`was answered with ${status}${reason && `: ${reason}`}`, response.status);
  if (!retryable.has(response.status)) return { kind: 'refused', failure };
  return { kind: 'failed', failure, retryAfterMs: retryAfter(response.headers.get('retry-after'), nowMs) };
}

/** Reads as much of an answer as is worth it, and lets go of the rest. */
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

/** Resolves after so long, or as soon as it is given up. */
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

/** Tells of a failure; that a listener fails too is no reason to stop. */
export function tell(options: OtlpOptions, error: TraceError): void {
  try {
    options.onError?.(error);
  } catch {
    // It was told.
  }
}

/** A failure as others see it. */
export function exportFailed(what: string, cause: unknown): TraceError {
  const reason = cause instanceof DeliveryFailure ? cause.message : `failed: ${describe(cause)}`;
  return new TraceError('export_failed', `Sending ${what} ${reason}`, { cause });
}
