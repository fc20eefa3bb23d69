import type { ChangeEventData, ChangeEventName, ExtensionPointId } from '@tenon/protocol';
import type { Actor, AppAccess } from '../auth/access.ts';
import { authorizeRequest, usedBy } from '../auth/authenticate-request.ts';
import type { ChangeEventRecord } from '../db/change-records.ts';
import { changeId } from '../db/change-records.ts';
import { TooManyAttemptsError } from '../http/domain-errors.ts';
import { unavailable } from '../http/http-error.ts';
import { toProblem } from '../http/problem.ts';
import { disconnectSignal, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Access } from '../http/route.ts';
import { requestLogFields } from '../http/send-error.ts';
import type { Services } from '../services.ts';
import { type ChangeStep, type FollowOptions, followNews } from './follow-changes.ts';

/** What clients are asked to wait before they come back. They add a random time of their own, so as not to come all at once. */
const retryMs = 1000;

/** When to come back for a stream that there was no room for. */
const retryAfterSeconds = 30;

/** Whose news is asked for, by whom, and by what access they were let in. */
interface ChangesRequest {
  readonly access: Access;
  readonly actor: Actor;
  readonly app: AppAccess['app'];
  /** The one extension point whose lists are asked about; all of the application's when it is left out. */
  readonly extensionPointId?: ExtensionPointId;
}

/**
 * Answers with a change stream that ends when the client goes, may no longer, or takes nothing for too long; or the server
 * stops.
 *
 * @throws DomainError `rate_limited` for one stream too many of an account, `unavailable` for one too many of all
 */
export async function sendChanges(
  services: Services,
  { access, actor, app, extensionPointId }: ChangesRequest,
  request: Request,
  reply: Reply,
): Promise<Reply> {
  const { response } = reply;
  reply.headers(eventStreamHeaders);
  if (request.method === 'HEAD') return reply.send();
  const giveBack = takeSlot(services, actor);
  // Whoever went away while it was looked up what they may: nobody would tell that again, and give their place back.
  if (response.destroyed || services.changes.isClosed) giveBack();
  if (response.destroyed) return reply.send();
  if (services.changes.isClosed) throw unavailable('The server is stopping. Come back shortly.', 1);
  response.once('close', giveBack);
  const { idleTimeoutMs, changeHeartbeatMs } = services.settings;
  const beatMs = Math.min(changeHeartbeatMs, idleTimeoutMs / 2);
  response.setTimeout(idleTimeoutMs, () => response.destroy());
  const lastId = request.headers['last-event-id'];
  const options: FollowOptions = {
    lastId: typeof lastId === 'string' && lastId !== '' ? lastId : undefined,
    async renew() {
      await authorizeRequest(services, access, request, true);
      services.lastUsed.note(usedBy(actor)); // a token by which somebody listens is in use
    },
    quietMs: () => Math.max(1, Math.min(beatMs, actor.expiresAtMs - services.deps.clock())),
    signal: disconnectSignal(response),
  };
  const steps = followNews({ read: services.deps.store.read, feed: services.changes }, app.id, options);
  const isAsked = ({ extensionPointId: of }: ChangeEventRecord) =>
    extensionPointId === undefined || of === extensionPointId;
  return reply.send(textOf(services, request, steps, isAsked));
}

function takeSlot({ changeStreams }: Services, { userId }: Actor): () => void {
  const slot = changeStreams.acquire(userId);
  if (slot === 'key limit') {
    throw new TooManyAttemptsError('Too many change streams are open with this account.', retryAfterSeconds);
  }
  if (slot === 'total limit') throw unavailable('Too many change streams are open.', retryAfterSeconds);
  return slot;
}

async function* textOf(
  services: Services,
  request: Request,
  steps: AsyncIterable<ChangeStep>,
  isAsked: (record: ChangeEventRecord) => boolean,
): AsyncGenerator<Buffer> {
  yield Buffer.from(eventText({ retryMs }));
  let lastId = '';
  try {
    for await (const step of steps) {
      const text = textOfStep(step, isAsked, lastId);
      if (text === '') continue;
      lastId = changeId(step.at);
      yield Buffer.from(text);
    }
  } catch (error) {
    yield Buffer.from(endText(services, request, error));
  }
}

/** What is sent of a step; nothing when it is about other extension points: a heartbeat tells the id then. */
function textOfStep(step: ChangeStep, isAsked: (record: ChangeEventRecord) => boolean, lastId: string): string {
  const id = changeId(step.at);
  switch (step.kind) {
    case 'reset':
    case 'ready':
      return changeText(step.kind, {}, id);
    case 'quiet':
      return id === lastId ? heartbeat : eventText({ id });
    case 'changes':
      return step.records.filter(isAsked).map(textOfRecord).join('');
  }
}

function textOfRecord(record: ChangeEventRecord): string {
  const { extensionPointId, guestKey } = record;
  const id = changeId(record);
  if (guestKey === null) return changeText('deleted', { extensionPointId }, id);
  return changeText('binding', { extensionPointId, guestKey }, id);
}

/** The last event: why the stream ends. The id stays what it was, so that the client goes on from there when it comes back. */
function endText(services: Services, request: Request, error: unknown): string {
  const { status, code, problem, cause } = toProblem(error, services.addresses.base());
  const line = { ...requestLogFields(services, request), code };
  if (status >= 500 && code !== 'unavailable') services.log.error({ ...line, err: cause }, 'a change stream failed');
  else services.log.debug(line, 'a change stream was ended');
  return changeText('end', { code, detail: problem.detail });
}

function changeText<N extends ChangeEventName>(event: N, data: ChangeEventData[N], id?: string): string {
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
