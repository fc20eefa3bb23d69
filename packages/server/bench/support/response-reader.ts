/*
 * Just enough of HTTP/1.1 (RFC 9112 §6) to count answers on a connection that is kept: libraries for it take more time than the
 * servers that are measured, and keep unused bodies.
 */

/** An answer has come to its end. */
export type OnAnswer = (status: number, bodyBytes: number) => void;

const headEnd = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

/**
 * Reads the answers on one connection.
 *
 * @returns takes the bytes as they come; they may be overwritten after that. It throws an Error for what it can't tell the end of.
 */
export function createResponseReader(onAnswer: OnAnswer): (bytes: Buffer) => void {
  /** What came of a head, or of a line before a chunk, that isn't there whole. */
  let begun = nothing;
  let state: 'head' | 'body' | 'chunkLine' | 'chunk' | 'trailer' = 'head';
  let status = 0;
  let left = 0;
  let bodyBytes = 0;

  const end = (): void => {
    state = 'head';
    onAnswer(status, bodyBytes);
  };
  /** @returns how many bytes were of the part that was being read; 0 when more have to come */
  const readHead = (bytes: Buffer): number => {
    const at = bytes.indexOf(headEnd);
    if (at === -1) return 0;
    const head = bytes.toString('latin1', 0, at);
    status = Number(head.slice(9, 12));
    bodyBytes = 0;
    if (!head.startsWith('HTTP/1.1 ') || !(status >= 100)) throw new Error(`This is no answer: ${head.slice(0, 100)}`);
    if (status < 200) return at + headEnd.length; // another one follows
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (status === 204 || status === 304) end();
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) state = 'chunkLine';
    else if (length === undefined) throw new Error(`Nothing tells where the answer ends: ${head}`);
    else if (length === '0') end();
    else [state, left] = ['body', Number(length)];
    return at + headEnd.length;
  };
  const readLine = (bytes: Buffer): number => {
    const at = bytes.indexOf('\r\n');
    if (at === -1) return 0;
    if (state === 'trailer') {
      if (at === 0) end();
      return at + 2;
    }
    left = Number.parseInt(bytes.toString('latin1', 0, at), 16);
    if (Number.isNaN(left)) throw new Error('The size of a chunk is no number');
    state = left === 0 ? 'trailer' : 'chunk';
    if (state === 'chunk') left += 2; // the line's end behind it
    return at + 2;
  };
  const readBody = (bytes: Buffer): number => {
    const taken = Math.min(left, bytes.length);
    left -= taken;
    bodyBytes += taken;
    if (left > 0) return taken;
    if (state === 'body') end();
    else [state, bodyBytes] = ['chunkLine', bodyBytes - 2];
    return taken;
  };
  const readPart = (bytes: Buffer): number => {
    if (state === 'head') return readHead(bytes);
    return state === 'body' || state === 'chunk' ? readBody(bytes) : readLine(bytes);
  };

  return (bytes) => {
    let rest = begun.length === 0 ? bytes : Buffer.concat([begun, bytes]);
    begun = nothing;
    while (rest.length > 0) {
      const taken = readPart(rest);
      if (taken === 0) {
        begun = Buffer.from(rest);
        return;
      }
      rest = rest.subarray(taken);
    }
  };
}
