import { ClientError } from './errors.ts';

/** An event as it was sent. */
export interface StreamEvent {
  /** `message` when none was named. */
  readonly type: string;
  readonly data: string;
  /** The id that was sent last: what to go on from after this event. */
  readonly id: string;
}

/** Reads a stream of server-sent events, piece by piece. */
export interface EventParser {
  /** Takes the next bytes, wherever they are cut, and gives the events that they complete. @throws ClientError `too_large` */
  push(bytes: Uint8Array): StreamEvent[];
  /** The id that was sent last, with an event or without; empty before the first. */
  readonly lastId: string;
  /** How long to wait before coming back, in milliseconds, if that was said. */
  readonly retryMs: number | undefined;
}

/** No event of ours comes near it; a stream without line breaks must not fill the memory. */
const longestEventChars = 1024 * 1024;

/**
 * Follows https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation to the letter.
 *
 * @param lastId of the stream before this one
 */
export function createEventParser(lastId = ''): EventParser {
  // Some decoders lose count of byte order marks that come in pieces: the one at the beginning is taken off here.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let isBegun = false;
  let rest = '';
  let isAfterCr = false;
  let type = '';
  let data = '';
  let sentId = lastId;
  let id = lastId;
  let retryMs: number | undefined;

  /** Takes a field over; what has no name that is known is passed over, comments too. */
  function take(line: string): void {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1);
    if (field === 'data') data += `${value}\n`;
    else if (field === 'event') type = value;
    else if (field === 'id' && !value.includes('\0')) sentId = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value);
    if (data.length > longestEventChars) throw tooLong();
  }

  function dispatch(): StreamEvent[] {
    id = sentId;
    const event = { type: type === '' ? 'message' : type, data: data.slice(0, -1), id };
    const isTold = data !== '';
    type = '';
    data = '';
    return isTold ? [event] : [];
  }

  return {
    push(bytes) {
      let text = decoder.decode(bytes, { stream: true });
      if (!isBegun && text !== '') {
        if (text.startsWith('\ufeff')) text = text.slice(1);
        isBegun = true;
      }
      if (isAfterCr && text !== '') {
        // The line ended with the piece before; what may follow is the other half of its end.
        if (text.startsWith('\n')) text = text.slice(1);
        isAfterCr = false;
      }
      const lines = (rest + text).split(/\r\n|\n|\r/);
      isAfterCr = isAfterCr || text.endsWith('\r');
      rest = lines.pop() ?? '';
      if (rest.length > longestEventChars) throw tooLong();
      const events: StreamEvent[] = [];
      for (const line of lines) {
        if (line === '') events.push(...dispatch());
        else take(line);
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
  return new ClientError('too_large', `An event has more than ${longestEventChars} characters`);
}
