import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Services } from '../services.ts';
import { callerOf, leaseFor, reserveBytes } from './bodies/body-room.ts';
import { ClientDisconnected } from './bodies/read-bytes.ts';
import type { Reply, ReplyBody } from './reply.ts';
import type { Request } from './request.ts';
import type { AuthContext } from './route.ts';

/** The length of a serialized chunk in characters. Other requests run between two chunks. */
const chunkLength = 64 * 1024;

type Batches = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>;

/** The members of a list's page beside its entries. */
type PageMembers = Readonly<Partial<Record<'nextCursor' | 'previousCursor' | 'total', string | number | undefined>>>;

/** A list that a handler returns, serialized in chunks as `{"objects": […], "nextCursor": "…"}`. */
export class ListResponse {
  /** Chunks of JSON text of about {@link chunkLength}. */
  readonly chunks: AsyncIterable<string>;

  /** @param batches the entries in order; a batch is requested after the previous one was serialized */
  constructor(batches: Batches, toWire: (item: never) => unknown, members: PageMembers = {}) {
    this.chunks = serialize(batches, toWire, members);
  }
}

async function* serialize(batches: Batches, toWire: (item: never) => unknown, members: PageMembers) {
  let text = '{"objects":[';
  let separator = '';
  for await (const batch of batches) {
    for (const item of batch) {
      text += separator + JSON.stringify(toWire(item as never));
      separator = ',';
      if (text.length < chunkLength) continue;
      yield text;
      text = '';
    }
  }
  const others = JSON.stringify(members).slice(1, -1);
  yield `${text}]${others === '' ? '' : `,${others}`}}`;
}

/**
 * Serializes a list completely before the first byte is sent, so that a failure is still an error response. Reserves memory for the chunks
 * until the response has been sent.
 *
 * @throws HttpError `unavailable` when the memory for bodies is full
 * @throws ClientDisconnected
 */
export async function serializeList(
  services: Services,
  auth: AuthContext,
  request: Request,
  reply: Reply,
  list: ListResponse,
): Promise<ReplyBody> {
  const { response } = reply;
  const lease = leaseFor(services.bodyBudget, callerOf(services, auth, request), response);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const text of list.chunks) {
    if (response.destroyed) throw new ClientDisconnected('The client disconnected before its list was serialized');
    const chunk = Buffer.from(text);
    reserveBytes(lease, chunk.length);
    chunks.push(chunk);
    length += chunk.length;
    await yieldToEventLoop();
  }
  if (chunks.length === 1) return chunks[0];
  reply.header('content-length', length);
  return drainChunks(chunks);
}

/** Yields the chunks and removes them, so that sent ones can be garbage-collected. */
async function* drainChunks(chunks: Buffer[]): AsyncGenerator<Buffer> {
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) yield chunk;
}
