import { type Clock, sleep } from './clock.ts';
import { ClientError } from './errors.ts';
import { createEventParser, type EventParser, type StreamEvent } from './event-stream.ts';
import { backOffMs } from './health.ts';
import type { NewsReceiver } from './lists.ts';
import type { Settings } from './options.ts';
import type { OpenStream, Transport } from './transport.ts';

/** How many streams may be open at once. */
export interface StreamPlaces {
  /** @returns whether there was one left */
  take(): boolean;
  give(): void;
}

export interface StreamParts {
  readonly settings: Settings;
  readonly transport: Pick<Transport, 'open'>;
  readonly receiver: NewsReceiver;
  readonly places: StreamPlaces;
}

/** The news of one extension point. */
export interface NewsStream {
  /** As `News` has it. */
  toldSince(): number | undefined;
}

/** Where there is no such stream, or none for this token, somebody may have changed that after so long. */
const refusedMs = 5 * 60_000;

/** What to wait before coming back to a server that doesn't say so. */
const defaultRetryMs = 1_000;

/** What is known of the course of events, whatever becomes of the connection. */
interface Course {
  /** The turn from which on nothing was missed; `undefined` before there is one. */
  since: number | undefined;
  /** Whether all that happened so far has been told: the connection stands. */
  isLive: boolean;
  /** When something last came. The monotonic clock may stand still while the machine is suspended, and timers with it. */
  heard: { readonly monotonicMs: number; readonly wallMs: number };
  lastId: string;
  retryMs: number;
}

/**
 * Follows an extension point's news, and comes back where the connection broke off, until the signal ends it. Whoever calls has taken a
 * place for it.
 */
export function followExtensionPoint(parts: StreamParts, extensionPointId: string, signal: AbortSignal): NewsStream {
  const { clock, newsSilenceMs } = parts.settings;
  const heard = momentOf(clock);
  const course: Course = { since: undefined, isLive: false, heard, lastId: '', retryMs: defaultRetryMs };
  run(parts, extensionPointId, course, signal).catch(() => {}); // it ends with the signal alone
  const isSilent = () => {
    const { monotonicMs, wallMs } = momentOf(clock);
    return Math.max(monotonicMs - course.heard.monotonicMs, wallMs - course.heard.wallMs) > newsSilenceMs;
  };
  return { toldSince: () => (course.isLive && !isSilent() ? course.since : undefined) };
}

function momentOf(clock: Clock): Course['heard'] {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

async function run(parts: StreamParts, extensionPointId: string, course: Course, signal: AbortSignal): Promise<void> {
  const { clock, random, retry, canRenewToken } = parts.settings;
  const { places } = parts;
  let failures = 0;
  let hasRenewedToken = false;
  while (!signal.aborted) {
    const error = await connect(parts, extensionPointId, course, signal);
    failures = course.isLive ? 0 : failures + 1;
    if (course.isLive) hasRenewedToken = false;
    course.isLive = false;
    if (error?.status === 401 && canRenewToken && !hasRenewedToken) {
      hasRenewedToken = true; // the next request brings another one
      continue;
    }
    const isRefused = error !== undefined && isRefusal(error);
    // Shared out at random, so that all the hosts of a server that was started again don't come back at once.
    const waitMs = isRefused
      ? refusedWaitMs(random)
      : Math.max(course.retryMs * (0.5 + random()), failures === 0 ? 0 : backOffMs(retry, failures, random));
    if (isRefused) places.give(); // an extension point that is gone keeps no other from being followed
    await sleep(clock, Math.max(waitMs, Math.min(error?.retryAfterMs ?? 0, refusedMs)), signal);
    while (isRefused && !places.take()) await sleep(clock, refusedWaitMs(random), signal);
  }
}

function refusedWaitMs(random: () => number): number {
  return refusedMs * (1 + random() / 2);
}

/** Listens for as long as a connection lasts. @returns why it didn't come about, or broke; nothing when the server ended it */
async function connect(
  { settings, transport, receiver }: StreamParts,
  extensionPointId: string,
  course: Course,
  signal: AbortSignal,
): Promise<ClientError | undefined> {
  const { clock, newsSilenceMs } = settings;
  if (course.lastId === '') course.since = undefined; // what happens until it is ready would be missed
  const request = {
    operation: 'news',
    path: `/api/v1/extension-points/${extensionPointId}/news`,
    headers: { accept: 'text/event-stream', ...(course.lastId === '' ? {} : { 'last-event-id': course.lastId }) },
    maxBytes: Number.POSITIVE_INFINITY,
    cache: 'no-store',
    attempt: 1,
  } as const;
  let stream: OpenStream | undefined;
  try {
    stream = await transport.open(request, signal);
    const type = stream.response.headers.get('content-type') ?? '';
    if (!/^text\/event-stream\s*(;|$)/i.test(type))
      throw new ClientError('unexpected_answer', 'This is no stream of events');
    const parser = createEventParser(course.lastId);
    for await (const events of eventsOf(stream.response, parser, clock, newsSilenceMs)) {
      course.heard = momentOf(clock);
      for (const event of events) {
        if (!take(event, extensionPointId, course, receiver)) return undefined;
        course.lastId = event.id;
      }
      course.lastId = parser.lastId;
      course.retryMs = parser.retryMs ?? course.retryMs;
    }
    return undefined;
  } catch (cause) {
    return cause instanceof ClientError ? cause : new ClientError('network', 'The stream of news broke off', { cause });
  } finally {
    stream?.close();
  }
}

/** Takes an event over. @returns whether more will come */
function take({ type, data }: StreamEvent, extensionPointId: string, course: Course, receiver: NewsReceiver): boolean {
  switch (type) {
    case 'binding': {
      const told = fieldsOf(data);
      if (told.extensionPointId === extensionPointId && typeof told.guestKey === 'string') {
        receiver.changed({ extensionPointId, guestKey: told.guestKey });
      }
      return true;
    }
    case 'deleted':
      if (fieldsOf(data).extensionPointId === extensionPointId) course.since = receiver.nextTurn(); // ask for each again
      return true;
    case 'reset':
      course.since = undefined;
      course.isLive = false;
      return true;
    case 'ready':
      course.since ??= receiver.nextTurn();
      course.isLive = true;
      return true;
    case 'end':
      return false;
    default:
      return true; // a server of another version
  }
}

function fieldsOf(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {}
  throw new ClientError('unexpected_answer', 'The data of an event is no JSON object');
}

/** Whether it is no use to come back soon: there is no such stream, or not for this token, or what answers is no server of ours. */
function isRefusal({ code, status }: ClientError): boolean {
  if (status !== undefined) return status < 500 ? status !== 408 && status !== 425 && status !== 429 : status === 501;
  return code === 'unexpected_answer' || code === 'redirected';
}

/** The events of each piece that comes. @throws ClientError `timeout` when nothing comes for too long, not even a sign of life */
async function* eventsOf(
  { body }: Response,
  parser: EventParser,
  clock: Clock,
  silenceMs: number,
): AsyncGenerator<StreamEvent[]> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, clock, silenceMs);
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
  silenceMs: number,
): Promise<Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>['read']>>> {
  let cancel = (): void => {};
  const silence = new Promise<never>((_, reject) => {
    const fail = () => reject(new ClientError('timeout', `Nothing came for ${silenceMs} ms, not even a sign of life`));
    cancel = clock.setTimer(fail, silenceMs);
  });
  const read = reader.read();
  read.catch(() => {}); // whoever is waited for, the other one may fail later
  try {
    return await Promise.race([read, silence]);
  } finally {
    cancel();
  }
}
