import { ClientError } from './errors.ts';

/** A server-sent event. */
export interface StreamEvent {
  /** `message` by default. */
  readonly type: string;
  readonly data: string;
  /** The last id that was sent. A reconnection resumes after it. */
  readonly id: string;
}

/** Parses a stream of server-sent events. */
export interface EventParser {
  /** Parses the next chunk and returns the events that it completes. @throws ClientError `too_large` */
  push(bytes: Uint8Array): StreamEvent[];
  /** The last id that was sent, with or without an event. Empty before the first. */
  readonly lastId: string;
  /** The server's delay before a reconnection, in milliseconds. */
  readonly retryMs: number | undefined;
}

/** Far above any event of a Tenon server. A stream without line breaks must not fill the memory. */
const maxEventChars = 1024 * 1024;

/**
 * Implements https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation exactly.
 *
 * @param lastId of the previous connection
 */
export function createEventParser(lastId = ''): EventParser {
  // Some decoders miss a byte order mark that is split between chunks, so it is removed here.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let hasBegun = false;
  let rest = '';
  let isAfterCr = false;
  let type = '';
  let data = '';
  let sentId = lastId;
  let id = lastId;
  let retryMs: number | undefined;

  /** Skips comments and unknown fields. */
  function parseLine(line: string): void {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1);
    if (field === 'data') data += `${value}\n`;
    else if (field === 'event') type = value;
    else if (field === 'id' && !value.includes('\0')) sentId = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value);
    if (data.length > maxEventChars) throw tooLong();
  }

  function dispatch(): StreamEvent[] {
    id = sentId;
    const event = { type: type === '' ? 'message' : type, data: data.slice(0, -1), id };
    const hasData = data !== '';
    type = '';
    data = '';
    return hasData ? [event] : [];
  }

  return {
    push(bytes) {
      let text = decoder.decode(bytes, { stream: true });
      if (!hasBegun && text !== '') {
        if (text.startsWith('\ufeff')) text = text.slice(1);
        hasBegun = true;
      }
      if (isAfterCr && text !== '') {
        // The previous chunk ended with a CR. A LF here belongs to the same line end.
        if (text.startsWith('\n')) text = text.slice(1);
        isAfterCr = false;
      }
      const lines = (rest + text).split(/\r\n|\n|\r/);
      isAfterCr = isAfterCr || text.endsWith('\r');
      rest = lines.pop() ?? '';
      if (rest.length > maxEventChars) throw tooLong();
      const events: StreamEvent[] = [];
      for (const line of lines) {
        if (line === '') events.push(...dispatch());
        else parseLine(line);
      }
      return events;
    },
    get lastId() {
      return id;
    },
    get retryMs() {
      return retryMs;
    },
  };
}

function tooLong(): ClientError {
  return new ClientError('too_large', `An event has more than ${maxEventChars} characters`);
}
