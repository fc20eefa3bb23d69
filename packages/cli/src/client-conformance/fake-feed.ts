import type { IncomingMessage, ServerResponse } from 'node:http';

/** An event of the change feed. */
interface FeedEvent {
  readonly id: string;
  readonly text: string;
}

/** The change feed of the fake server: it stores all events, and resumes after `last-event-id`. */
export interface FakeFeed {
  /** Opens a stream: sends missed events or `reset`, then `ready`. */
  open(request: IncomingMessage, response: ServerResponse): void;
  /** Opens a stream without `ready`. */
  openQuietly(response: ServerResponse): void;
  /** Stores a `binding` event, and sends it to open streams. */
  emitBinding(guestKey: string): void;
  /** Sends a text to open streams. */
  write(text: string): void;
  writeBytes(bytes: Uint8Array): void;
  /** Sends nothing more to the open streams. */
  muteOpen(): void;
  /** The number of open streams that are muted. */
  readonly mutedStreams: number;
  /** The text of a new event, which is stored. */
  textOf(event: string, data: object): string;
  /** Ends open streams in order. */
  end(): void;
  /** The id of the latest event. */
  readonly lastId: string;
  /** The number of open streams. */
  readonly openStreams: number;
}

/** Clients wait this long before they reconnect. */
const retryMs = 500;

export function createFakeFeed(extensionPointId: string): FakeFeed {
  const events: FeedEvent[] = [{ id: '1-first', text: '' }];
  const streams = new Set<ServerResponse>();
  const muted = new Set<ServerResponse>();

  const lastId = () => events.at(-1)?.id ?? '';
  const write = (text: string | Uint8Array) => {
    for (const stream of streams) stream.write(text);
  };
  const store = (event: string, data: object): string => {
    const id = `${events.length + 1}-${event}`;
    const text = eventText(id, event, data);
    events.push({ id, text });
    return text;
  };

  function openQuietly(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    response.write(`retry: ${retryMs}\n\n`);
    streams.add(response);
    response.on('close', () => streams.delete(response));
  }

  return {
    open(request, response) {
      openQuietly(response);
      const since = request.headers['last-event-id'];
      const at = events.findIndex(({ id }) => id === since);
      if (at !== -1) for (const { text } of events.slice(at + 1)) response.write(text);
      else if (since !== undefined) response.write(eventText(lastId(), 'reset', {}));
      response.write(eventText(lastId(), 'ready', {}));
    },
    openQuietly,
    emitBinding: (guestKey) => write(store('binding', { extensionPointId, guestKey })),
    write,
    writeBytes: write,
    muteOpen() {
      for (const stream of streams) {
        streams.delete(stream);
        muted.add(stream);
        stream.on('close', () => muted.delete(stream));
      }
    },
    get mutedStreams() {
      return muted.size;
    },
    textOf: store,
    end() {
      for (const stream of streams) stream.end();
    },
    get lastId() {
      return lastId();
    },
    get openStreams() {
      return streams.size;
    },
  };
}

export function eventText(id: string, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
