import type { ChangeReceiver } from './change-source.ts';
import { backoffMs } from './circuit-breaker.ts';
import { type Clock, sleep } from './clock.ts';
import { ClientError } from './errors.ts';
import { createEventParser, type EventParser, type StreamEvent } from './event-stream.ts';
import type { Settings } from './options.ts';
import type { Semaphore } from './semaphore.ts';
import type { OpenStream, Transport } from './transport.ts';

export interface ChangeStreamDeps {
  readonly settings: Settings;
  readonly transport: Pick<Transport, 'open'>;
  readonly receiver: ChangeReceiver;
  readonly semaphore: Semaphore;
}

/** The change events of one extension point. */
export interface ChangeStream {
  /** As in `ChangeSource`. */
  liveSince(): number | undefined;
  /** As in `ChangeSource`. */
  confirmedMs(sequence: number): number;
}

/** The delay before a rejected stream is requested again. */
const rejectedRetryMs = 5 * 60_000;

/** The delay before a reconnection if the server sends no `retry` field. */
const defaultRetryMs = 1_000;

/** The state of a stream, across its connections. */
interface StreamState {
  /** The sequence number from which on no event was missed. `undefined` before the first `ready`. */
  liveSince: number | undefined;
  /** Whether the stream is connected and all past events were received. */
  isLive: boolean;
  /** The time of the last chunk while live. The monotonic clock and its timers may stop while the machine is suspended. */
  lastReceived: { readonly monotonicMs: number; readonly wallMs: number };
  lastId: string;
  retryMs: number;
}

/** Opens a change stream and reconnects it until the signal aborts. The caller has acquired a permit of the semaphore. */
export function openChangeStream(deps: ChangeStreamDeps, extensionPointId: string, signal: AbortSignal): ChangeStream {
  const { clock, heartbeatTimeoutMs } = deps.settings;
  const lastReceived = timeOf(clock);
  const state: StreamState = { liveSince: undefined, isLive: false, lastReceived, lastId: '', retryMs: defaultRetryMs };
  run(deps, extensionPointId, state, signal).catch(() => {}); // it ends only with the signal
  const isSilent = () => {
    const { monotonicMs, wallMs } = timeOf(clock);
    const { lastReceived } = state;
    return Math.max(monotonicMs - lastReceived.monotonicMs, wallMs - lastReceived.wallMs) > heartbeatTimeoutMs;
  };
  return {
    liveSince: () => (state.isLive && !isSilent() ? state.liveSince : undefined),
    confirmedMs: (sequence) =>
      sequence >= (state.liveSince ?? Number.POSITIVE_INFINITY)
        ? state.lastReceived.monotonicMs
        : Number.NEGATIVE_INFINITY,
  };
}

function timeOf(clock: Clock): StreamState['lastReceived'] {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

async function run(
  deps: ChangeStreamDeps,
  extensionPointId: string,
  state: StreamState,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, retry, canRefreshToken } = deps.settings;
  const { semaphore } = deps;
  let failures = 0;
  let hasRefreshedToken = false;
  while (!signal.aborted) {
    const error = await connect(deps, extensionPointId, state, signal);
    failures = state.isLive ? 0 : failures + 1;
    if (state.isLive) hasRefreshedToken = false;
    state.isLive = false;
    if (error?.status === 401 && canRefreshToken && !hasRefreshedToken) {
      hasRefreshedToken = true; // the next request gets another token
      continue;
    }
    const isRejected = error !== undefined && isRejection(error);
    // With jitter, so that the hosts of a restarted server don't reconnect all at once.
    const delayMs = isRejected
      ? rejectedDelayMs(random)
      : Math.max(state.retryMs * (0.5 + random()), failures === 0 ? 0 : backoffMs(retry, failures, random));
    if (isRejected) semaphore.release(); // a deleted extension point must not block others
    await sleep(clock, Math.max(delayMs, Math.min(error?.retryAfterMs ?? 0, rejectedRetryMs)), signal);
    while (isRejected && !semaphore.tryAcquire()) await sleep(clock, rejectedDelayMs(random), signal);
  }
}

function rejectedDelayMs(random: () => number): number {
  return rejectedRetryMs * (1 + random() / 2);
}

/** Reads one connection to its end. @returns the error that ended it; nothing if the server ended it */
async function connect(
  { settings, transport, receiver }: ChangeStreamDeps,
  extensionPointId: string,
  state: StreamState,
  signal: AbortSignal,
): Promise<ClientError | undefined> {
  const { clock, heartbeatTimeoutMs } = settings;
  if (state.lastId === '') state.liveSince = undefined; // events before `ready` would be missed
  const request = {
    operation: 'changes',
    path: `/api/v1/extension-points/${extensionPointId}/changes`,
    headers: { accept: 'text/event-stream', ...(state.lastId === '' ? {} : { 'last-event-id': state.lastId }) },
    maxBytes: Number.POSITIVE_INFINITY,
    cache: 'no-store',
    attempt: 1,
  } as const;
  let stream: OpenStream | undefined;
  try {
    stream = await transport.open(request, signal);
    const type = stream.response.headers.get('content-type') ?? '';
    if (!/^text\/event-stream\s*(;|$)/i.test(type)) {
      throw new ClientError('unexpected_response', 'The response is not an event stream');
    }
    const parser = createEventParser(state.lastId);
    for await (const events of eventsOf(stream.response, parser, clock, heartbeatTimeoutMs)) {
      for (const event of events) {
        if (!apply(event, extensionPointId, state, receiver)) return undefined;
        state.lastId = event.id;
      }
      if (state.isLive) state.lastReceived = timeOf(clock);
      state.lastId = parser.lastId;
      state.retryMs = parser.retryMs ?? state.retryMs;
    }
    return undefined;
  } catch (cause) {
    return cause instanceof ClientError ? cause : new ClientError('network', 'The change stream broke', { cause });
  } finally {
    stream?.close();
  }
}

/** @returns whether more events follow */
function apply(
  { type, data }: StreamEvent,
  extensionPointId: string,
  state: StreamState,
  receiver: ChangeReceiver,
): boolean {
  switch (type) {
    case 'binding': {
      const key = fieldsOf(data);
      if (key.extensionPointId === extensionPointId && typeof key.guestKey === 'string') {
        receiver.invalidate({ extensionPointId, guestKey: key.guestKey });
      }
      return true;
    }
    case 'deleted':
      if (fieldsOf(data).extensionPointId === extensionPointId) state.liveSince = receiver.nextSequence(); // refetch all
      return true;
    case 'reset':
      state.liveSince = undefined;
      state.isLive = false;
      return true;
    case 'ready':
      state.liveSince ??= receiver.nextSequence();
      state.isLive = true;
      return true;
    case 'end':
      return false;
    default:
      return true; // from a server of another version
  }
}

function fieldsOf(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {}
  throw new ClientError('unexpected_response', 'The data of an event must be a JSON object');
}

/** Whether an early retry is useless: there is no stream, or not for this token, or the response is not from a Tenon server. */
function isRejection({ code, status }: ClientError): boolean {
  if (status !== undefined) return status < 500 ? status !== 408 && status !== 425 && status !== 429 : status === 501;
  return code === 'unexpected_response' || code === 'redirected';
}

/** The events of each chunk. @throws ClientError `timeout` if there is no chunk for too long */
async function* eventsOf(
  { body }: Response,
  parser: EventParser,
  clock: Clock,
  timeoutMs: number,
): AsyncGenerator<StreamEvent[]> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, clock, timeoutMs);
      if (done) return;
      yield parser.push(value);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  clock: Clock,
  timeoutMs: number,
): Promise<Awaited<ReturnType<typeof reader.read>>> {
  let cancel = (): void => {};
  const timeout = new Promise<never>((_, reject) => {
    const fail = () => reject(new ClientError('timeout', `The change stream sent no heartbeat for ${timeoutMs} ms`));
    cancel = clock.setTimer(fail, timeoutMs);
  });
  const read = reader.read();
  read.catch(() => {}); // it may fail after the timeout
  try {
    return await Promise.race([read, timeout]);
  } finally {
    cancel();
  }
}
