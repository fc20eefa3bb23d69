import type { ChangeEventData } from '@tenon/protocol';
import type { Actor } from '../auth/access.ts';
import { authorizeRequest, credentialOf } from '../auth/authenticate-request.ts';
import { TooManyAttemptsError } from '../http/domain-errors.ts';
import { unavailable } from '../http/http-error.ts';
import { toProblem } from '../http/problem.ts';
import { disconnectSignal, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Access, AuthContext } from '../http/route.ts';
import { requestLogFields } from '../http/send-error.ts';
import type { Services } from '../services.ts';
import { eventText } from './event-text.ts';

/** How long clients wait before they reconnect. They add a random time, so that they don't all reconnect at once. */
const retryMs = 1000;

/** The `retry-after` of a rejected stream. */
const retryAfterSeconds = 30;

/** What the generator of a stream's events gets. */
export interface StreamOptions<A extends Access = Access> {
  /** Throws when the client has lost its access. Call it before each event, and after the store has changed. */
  readonly renew: () => Promise<AuthContext<A>>;
  /** Returns how long to wait for an event before a heartbeat, in milliseconds. Call it for each wait. */
  readonly quietMs: () => number;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Sends events until the client disconnects, stops reading or loses its access, or the server stops.
 *
 * @param access the access rule of the route, which is checked again while the stream is open
 * @param events yields events as text
 * @throws DomainError `rate_limited` if the account has too many open streams, `unavailable` if the server has
 */
export function sendEventStream<A extends Access>(
  services: Services,
  { access, actor }: { readonly access: A; readonly actor: Actor },
  request: Request,
  reply: Reply,
  events: (options: StreamOptions<A>) => AsyncIterable<string>,
): Reply {
  const { response } = reply;
  reply.headers(eventStreamHeaders);
  if (request.method === 'HEAD') return reply.send();
  // A client that disconnected during the authorization emits no further `close` event that could release the slot.
  if (response.destroyed) return reply.send();
  if (services.changes.isClosed) throw unavailable('The server is stopping. Try again shortly.', 1);
  response.once('close', acquireSlot(services, actor));
  const { idleTimeoutMs, changeHeartbeatMs } = services.settings;
  const heartbeatMs = Math.min(changeHeartbeatMs, idleTimeoutMs / 2);
  response.setTimeout(idleTimeoutMs, () => response.destroy());
  const options: StreamOptions<A> = {
    async renew() {
      const auth = await authorizeRequest(services, access, request, true);
      services.lastUsed.note(credentialOf(actor), actor.userId, request.message); // an open stream counts as a use of its token
      return auth as AuthContext<A>;
    },
    quietMs: () => Math.max(1, Math.min(heartbeatMs, actor.expiresAtMs - services.deps.clock())),
    signal: disconnectSignal(response),
  };
  return reply.send(bytesOf(services, request, events(options)));
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

async function* bytesOf(services: Services, request: Request, events: AsyncIterable<string>): AsyncGenerator<Buffer> {
  yield Buffer.from(eventText({ retryMs }));
  try {
    for await (const text of events) if (text !== '') yield Buffer.from(text);
  } catch (error) {
    yield Buffer.from(endText(services, request, error));
  }
}

/** Returns the last event, with the reason. It has no id, so that the client resumes after the event before it. */
function endText(services: Services, request: Request, error: unknown): string {
  const { status, code, problem, cause } = toProblem(error, services.addresses.base());
  const line = { ...requestLogFields(services, request), code };
  if (status >= 500 && code !== 'unavailable') services.log.error({ ...line, err: cause }, 'change stream: failed');
  else services.log.debug(line, 'change stream: ended');
  const data: ChangeEventData['end'] = { code, detail: problem.detail };
  return eventText({ event: 'end', data });
}

/** The header of every event stream. Caches must not store it, and proxies must not buffer it. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  connection: 'close', // an idle connection after a stream's end would delay a shutdown
  'x-accel-buffering': 'no', // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
} as const;
