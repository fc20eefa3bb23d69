import type { ExtensionPointId, NewsEventData, NewsEventName } from '@tenon/protocol';
import type { Actor, AppAccess } from '../auth/access.ts';
import { admit, usedBy } from '../auth/authenticate-request.ts';
import type { NewsRecord } from '../db/change-records.ts';
import { newsId } from '../db/change-records.ts';
import { lineOf } from '../http/answer-error.ts';
import { TooManyAttemptsError } from '../http/domain-errors.ts';
import { unavailable } from '../http/http-error.ts';
import { toProblem } from '../http/problem.ts';
import { goneSignal, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Access } from '../http/route.ts';
import type { Parts } from '../services.ts';
import { type FollowOptions, followNews, type NewsStep } from './follow-changes.ts';

/** What clients are asked to wait before they come back. They add a random time of their own, so as not to come all at once. */
const retryMs = 1000;

/** When to come back for a stream that there was no room for. */
const retryAfterSeconds = 30;

/** Whose news is asked for, by whom, and by what access they were let in. */
interface NewsRequest {
  readonly access: Access;
  readonly actor: Actor;
  readonly app: AppAccess['app'];
  /** The one extension point whose lists are asked about; all of the application's when it is left out. */
  readonly extensionPointId?: ExtensionPointId;
}

/**
 * Answers with a stream of news that ends when the client goes, may no longer, or takes nothing for too long; or the server
 * stops.
 *
 * @throws DomainError `rate_limited` for one stream too many of an account, `unavailable` for one too many of all
 */
export async function sendNews(
  parts: Parts,
  { access, actor, app, extensionPointId }: NewsRequest,
  request: Request,
  reply: Reply,
): Promise<Reply> {
  const { response } = reply;
  reply.headers(eventStreamHeaders);
  if (request.method === 'HEAD') return reply.send();
  const giveBack = takeSlot(parts, actor);
  // Whoever went away while it was looked up what they may: nobody would tell that again, and give their place back.
  if (response.destroyed || parts.news.isClosed) giveBack();
  if (response.destroyed) return reply.send();
  if (parts.news.isClosed) throw unavailable('The server is stopping. Come back shortly.', 1);
  response.once('close', giveBack);
  const { idleTimeoutMs, newsHeartbeatMs } = parts.settings;
  const beatMs = Math.min(newsHeartbeatMs, idleTimeoutMs / 2);
  response.setTimeout(idleTimeoutMs, () => response.destroy());
  const lastId = request.headers['last-event-id'];
  const options: FollowOptions = {
    lastId: typeof lastId === 'string' && lastId !== '' ? lastId : undefined,
    async renew() {
      await admit(parts, access, request, true);
      parts.uses.note(usedBy(actor)); // a token by which somebody listens is in use
    },
    quietMs: () => Math.max(1, Math.min(beatMs, actor.expiresAtMs - parts.context.clock())),
    signal: goneSignal(response),
  };
  const steps = followNews({ read: parts.context.store.read, feed: parts.news }, app.id, options);
  const isAsked = ({ extensionPointId: of }: NewsRecord) => extensionPointId === undefined || of === extensionPointId;
  return reply.send(textOf(parts, request, steps, isAsked));
}

function takeSlot({ newsStreams }: Parts, { userId }: Actor): () => void {
  const slot = newsStreams.acquire(userId);
  if (slot === 'key limit') {
    throw new TooManyAttemptsError('Too many streams of news are open with this account.', retryAfterSeconds);
  }
  if (slot === 'total limit') throw unavailable('Too many streams of news are open.', retryAfterSeconds);
  return slot;
}

async function* textOf(
  parts: Parts,
  request: Request,
  steps: AsyncIterable<NewsStep>,
  isAsked: (record: NewsRecord) => boolean,
): AsyncGenerator<Buffer> {
  yield Buffer.from(eventText({ retryMs }));
  let toldId = '';
  try {
    for await (const step of steps) {
      const text = textOfStep(step, isAsked, toldId);
      if (text === '') continue;
      toldId = newsId(step.at);
      yield Buffer.from(text);
    }
  } catch (error) {
    yield Buffer.from(endText(parts, request, error));
  }
}

/** What is sent of a step; nothing when it is about other extension points: a heartbeat tells the id then. */
function textOfStep(step: NewsStep, isAsked: (record: NewsRecord) => boolean, toldId: string): string {
  const id = newsId(step.at);
  switch (step.kind) {
    case 'reset':
    case 'ready':
      return newsText(step.kind, {}, id);
    case 'quiet':
      return id === toldId ? heartbeat : eventText({ id });
    case 'news':
      return step.records.filter(isAsked).map(textOfRecord).join('');
  }
}

function textOfRecord(record: NewsRecord): string {
  const { extensionPointId, guestKey } = record;
  const id = newsId(record);
  if (guestKey === null) return newsText('deleted', { extensionPointId }, id);
  return newsText('binding', { extensionPointId, guestKey }, id);
}

/** The last event: why the stream ends. The id stays what it was, so that the client goes on from there when it comes back. */
function endText(parts: Parts, request: Request, error: unknown): string {
  const { status, code, problem, cause } = toProblem(error, parts.addresses.base());
  const line = { ...lineOf(parts, request), code };
  if (status >= 500 && code !== 'unavailable') parts.log.error({ ...line, err: cause }, 'a stream of news failed');
  else parts.log.debug(line, 'a stream of news was ended');
  return newsText('end', { code, detail: problem.detail });
}

function newsText<N extends NewsEventName>(event: N, data: NewsEventData[N], id?: string): string {
  return eventText({ event, data, ...(id === undefined ? {} : { id }) });
}

/** An event of a stream of server-sent events. What is left out is not sent. */
interface ServerSentEvent {
  readonly event?: string;
  /** Becomes JSON, which has no line breaks. An event without data is told to nobody, but its id counts. */
  readonly data?: object;
  readonly id?: string;
  /** How long to wait before coming back when the stream breaks off, in milliseconds. */
  readonly retryMs?: number;
}

/** What every stream of events is answered with. It is to be kept by nobody, and to be held back by no proxy. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  connection: 'close', // what is left to say when a stream has ended goes over another one, so that none holds up a shutdown
  'x-accel-buffering': 'no', // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
} as const;

/** A line that says nothing, by which both ends see that the other is still there. */
export const heartbeat = ':\n\n';

/** An event as it is sent: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export function eventText({ event, data, id, retryMs }: ServerSentEvent): string {
  const fields = [
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ];
  return `${fields.join('\n')}\n\n`;
}
