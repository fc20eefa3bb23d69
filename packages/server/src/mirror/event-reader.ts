/* Reads server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */

/** The longest event, in characters. A guest key has at most 512 bytes. */
const maxEventLength = 64 * 1024;

export interface ReceivedEvent {
  /** `undefined` for an event that has an id alone. */
  readonly name: string | undefined;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * Yields the events in each chunk of a stream, none for a heartbeat.
 *
 * @throws Error for an event that is too long
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ReceivedEvent[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > maxEventLength) throw new Error(`An event has more than ${maxEventLength} characters`);
    yield blocks.flatMap((block) => parseEvent(block) ?? []);
  }
}

function parseEvent(block: string): ReceivedEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const match = /^(event|data|id): ?(.*)$/.exec(line);
    if (match !== null) fields.set(match[1] ?? '', match[2] ?? '');
  }
  const [name, id] = [fields.get('event'), fields.get('id')];
  return name === undefined && id === undefined ? undefined : { name, data: fields.get('data') ?? '', id };
}
