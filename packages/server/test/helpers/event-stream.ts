import assert from 'node:assert/strict';

/** An event as it came: its name, its data as JSON, and the id that held from it on. */
export interface ReceivedEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id: string;
}

export interface EventStream {
  readonly response: Response;
  /** The next event; `undefined` when the stream has ended. Comments are passed over. */
  next(): Promise<ReceivedEvent | undefined>;
  /** As many events as are asked for. */
  take(count: number): Promise<ReceivedEvent[]>;
  /** All that has come so far, as it came. */
  text(): string;
  /** The last id that was sent, with an event or without. */
  lastId(): string;
  close(): Promise<void>;
}

export interface StreamOptions {
  readonly token?: string;
  readonly lastId?: string;
}

/** Asks for a stream of server-sent events, and reads it. It parses what our server sends, and no more than that. */
export async function openEvents(url: string, { token, lastId: since }: StreamOptions = {}): Promise<EventStream> {
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(since === undefined ? {} : { 'last-event-id': since }),
    },
    signal: controller.signal,
  });
  const reader = response.body?.getReader();
  assert.ok(reader);
  const decoder = new TextDecoder();
  const came: string[] = [];
  let rest = '';
  let id = '';
  const stream: EventStream = {
    response,
    async next() {
      for (;;) {
        const end = rest.indexOf('\n\n');
        if (end === -1) {
          const { done, value } = await reader.read();
          if (done) return undefined;
          const text = decoder.decode(value, { stream: true });
          came.push(text);
          rest += text;
          continue;
        }
        const lines = rest.slice(0, end).split('\n');
        rest = rest.slice(end + 2);
        const fields = new Map(
          lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        id = fields.get('id') ?? id;
        const data = fields.get('data');
        if (data !== undefined) return { event: fields.get('event') ?? 'message', data: JSON.parse(data), id };
      }
    },
    async take(count) {
      const events: ReceivedEvent[] = [];
      while (events.length < count) {
        const event = await stream.next();
        if (event === undefined) throw new Error(`Ended after ${events.length} of ${count} events: ${came.join('')}`);
        events.push(event);
      }
      return events;
    },
    text: () => came.join(''),
    lastId: () => id,
    async close() {
      controller.abort();
      await reader.cancel().catch(() => {});
    },
  };
  return stream;
}
