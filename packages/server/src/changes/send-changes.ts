import type { ChangeEventData, ChangeEventName, ExtensionPointId } from '@tenon/protocol';
import type { Actor, AppAccess } from '../auth/access.ts';
import { authorizeRequest, credentialOf } from '../auth/authenticate-request.ts';
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
import { type ChangeStep, type FollowOptions, followChanges } from './follow-changes.ts';

/** How long clients wait before they reconnect. They add a random time, so that they don't all reconnect at once. */
const retryMs = 1000;

/** The `retry-after` of a rejected stream. */
const retryAfterSeconds = 30;

interface Subscription {
  /** The access rule of the route, which is checked again while the stream is open. */
  readonly access: Access;
  readonly actor: Actor;
  readonly app: AppAccess['app'];
  /** Sends only the changes of this extension point. Default: all of the application's. */
  readonly extensionPointId?: ExtensionPointId;
}

/**
 * Sends a change stream until the client disconnects, stops reading or loses its access, or the server stops.
 *
 * @throws DomainError `rate_limited` if the account has too many open streams, `unavailable` if the server has
 */
export async function sendChanges(
  services: Services,
  { access, actor, app, extensionPointId }: Subscription,
  request: Request,
  reply: Reply,
): Promise<Reply> {
  const { response } = reply;
  reply.headers(eventStreamHeaders);
  if (request.method === 'HEAD') return reply.send();
  // A client that disconnected during the authorization emits no further `close` event that could release the slot.
  if (response.destroyed) return reply.send();
  if (services.changes.isClosed) throw unavailable('The server is stopping. Come back shortly.', 1);
  response.once('close', acquireSlot(services, actor));
  const { idleTimeoutMs, changeHeartbeatMs } = services.settings;
  const heartbeatMs = Math.min(changeHeartbeatMs, idleTimeoutMs / 2);
  response.setTimeout(idleTimeoutMs, () => response.destroy());
  const lastId = request.headers['last-event-id'];
  const options: FollowOptions = {
    lastId: typeof lastId === 'string' && lastId !== '' ? lastId : undefined,
    async renew() {
      await authorizeRequest(services, access, request, true);
      services.lastUsed.note(credentialOf(actor), actor.userId); // an open stream counts as a use of its token
    },
    quietMs: () => Math.max(1, Math.min(heartbeatMs, actor.expiresAtMs - services.deps.clock())),
    signal: disconnectSignal(response),
  };
  const steps = followChanges({ read: services.deps.store.read, feed: services.changes }, app.id, options);
  const isRequested = (record: ChangeEventRecord) =>
    extensionPointId === undefined || record.extensionPointId === extensionPointId;
  return reply.send(textOf(services, request, steps, isRequested));
}

/** Returns a function that releases the slot. */
function acquireSlot({ changeStreams }: Services, { userId }: Actor): () => void {
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
  isRequested: (record: ChangeEventRecord) => boolean,
): AsyncGenerator<Buffer> {
  yield Buffer.from(eventText({ retryMs }));
  let lastId = '';
  try {
    for await (const step of steps) {
      const text = textOfStep(step, isRequested, lastId);
      if (text === '') continue;
      lastId = changeId(step.at);
      yield Buffer.from(text);
    }
  } catch (error) {
    yield Buffer.from(endText(services, request, error));
  }
}

/** Returns a step as text; empty for changes of other extension points, whose id the next heartbeat sends. */
function textOfStep(step: ChangeStep, isRequested: (record: ChangeEventRecord) => boolean, lastId: string): string {
  const id = changeId(step.at);
  switch (step.kind) {
    case 'reset':
    case 'ready':
      return changeText(step.kind, {}, id);
    case 'quiet':
      return id === lastId ? heartbeat : eventText({ id });
    case 'changes':
      return step.records.filter(isRequested).map(textOfRecord).join('');
  }
}

function textOfRecord(record: ChangeEventRecord): string {
  const { extensionPointId, guestKey } = record;
  const id = changeId(record);
  if (guestKey === null) return changeText('deleted', { extensionPointId }, id);
  return changeText('binding', { extensionPointId, guestKey }, id);
}

/** Returns the last event, with the reason. It has no id, so that the client resumes after the event before it. */
function endText(services: Services, request: Request, error: unknown): string {
  const { status, code, problem, cause } = toProblem(error, services.addresses.base());
  const line = { ...requestLogFields(services, request), code };
  if (status >= 500 && code !== 'unavailable') services.log.error({ ...line, err: cause }, 'change stream: failed');
  else services.log.debug(line, 'change stream: ended');
  return changeText('end', { code, detail: problem.detail });
}

function changeText<N extends ChangeEventName>(event: N, data: ChangeEventData[N], id?: string): string {
  return eventText({ event, data, ...(id === undefined ? {} : { id }) });
}

/** A server-sent event. */
interface ServerSentEvent {
  readonly event?: string;
  /** Sent as JSON, which has no line breaks. Clients ignore an event without data except for its id. */
  readonly data?: object;
  readonly id?: string;
  /** How long clients wait before they reconnect, in milliseconds. */
  readonly retryMs?: number;
}

/** The header of every event stream. Caches must not store it, and proxies must not buffer it. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  connection: 'close', // an idle connection after a stream's end would delay a shutdown
  'x-accel-buffering': 'no', // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
} as const;

/** A comment, which keeps the connection open. */
export const heartbeat = ':\n\n';

/** Serializes an event: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export function eventText({ event, data, id, retryMs }: ServerSentEvent): string {
  const fields = [
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ];
  return `${fields.join('\n')}\n\n`;
}
