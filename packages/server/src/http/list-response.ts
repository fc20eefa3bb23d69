import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Services } from '../services.ts';
import { callerOf, leaseFor, reserveBytes } from './bodies/body-room.ts';
import { ClientDisconnected } from './bodies/read-bytes.ts';
import type { Reply, ReplyBody } from './reply.ts';
import type { Request } from './request.ts';
import type { AuthContext } from './route.ts';

/** How much of a list is serialized before other requests get their turn, in characters. */
const chunkLength = 64 * 1024;

/** A list as a handler returns it. It is serialized in pieces, as `{"objects": […], "nextCursor": "…"}`. */
export class ListResponse {
  readonly #batches: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>;
  readonly #toWire: (item: never) => unknown;
  readonly #nextCursor: string | undefined;

  /** @param batches the entries in order; a batch is read once the one before has been serialized */
  constructor(
    batches: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>,
    toWire: (item: never) => unknown,
    nextCursor?: string,
  ) {
    this.#batches = batches;
    this.#toWire = toWire;
    this.#nextCursor = nextCursor;
  }

  /** The JSON text, in pieces of about {@link chunkLength}. */
  async *pieces(): AsyncGenerator<string> {
    let text = '{"objects":[';
    let separator = '';
    for await (const batch of this.#batches) {
      for (const item of batch) {
        text += separator + JSON.stringify(this.#toWire(item as never));
        separator = ',';
        if (text.length < chunkLength) continue;
        yield text;
        text = '';
      }
    }
    const end = this.#nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(this.#nextCursor)}`;
    yield `${text}]${end}}`;
  }
}

/**
 * Serializes a list. Nothing is sent before all of it is there, so that what fails is still an error. Other requests get
 * their turn between two pieces, and what is held in memory counts against the memory for bodies until the client has taken it.
 *
 * @throws HttpError `unavailable` when that memory is full
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
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const text of list.pieces()) {
    if (response.destroyed) throw new ClientDisconnected('The client closed the connection before its list was there');
    const piece = Buffer.from(text);
    reserveBytes(lease, piece.length);
    pieces.push(piece);
    length += piece.length;
    await nextTurn();
  }
  if (pieces.length === 1) return pieces[0];
  reply.header('content-length', length);
  return drainChunks(pieces);
}

/** Hands out pieces, and forgets each once the next one is asked for. */
async function* drainChunks(pieces: Buffer[]): AsyncGenerator<Buffer> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece;
}
