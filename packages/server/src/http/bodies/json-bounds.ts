import { DomainError } from '../domain-errors.ts';
import { HttpError } from '../http-error.ts';

/** Bounds of a JSON body that is larger than others. */
export interface JsonBounds {
  /** In bytes. */
  readonly maxBytes: number;
  /** The maximum number of values and property names together. */
  readonly maxValues: number;
  /** How deep arrays and objects may be nested. */
  readonly maxDepth: number;
  /** Whether the body may be compressed. The bounds apply to the decompressed body. */
  readonly acceptsGzip?: true;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openingBracket, closingBracket, openingBrace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The maximum number of bytes outside of strings, such as white space. */
const maxBytesOutsideStrings = 2 * 1024 * 1024;

/**
 * Checks the depth, the number of values, and the bytes outside of strings of JSON text before it is parsed, because a large body of tiny
 * values takes long to parse and to validate. Strings are skipped, so that a long one costs little.
 *
 * @throws HttpError `payload_too_large`, DomainError `malformed_json` for JSON that is nested too deeply
 */
export function requireJsonBounds(bytes: Buffer, { maxValues, maxDepth }: JsonBounds, what: string): void {
  let [depth, values, inStrings] = [0, 1, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      const start = at;
      at = endOfString(bytes, at);
      inStrings += at - start;
    } else if (byte === openingBracket || byte === openingBrace) {
      depth++;
      values++;
      if (depth > maxDepth) {
        throw new DomainError('malformed_json', `${what} must be nested at most ${maxDepth} levels deep.`);
      }
    } else if (byte === closingBracket || byte === closingBrace) depth--;
    else if (byte === comma || byte === colon) values++;
    if (values > maxValues) throw tooMany(what, maxValues, 'values');
    if (at - inStrings >= maxBytesOutsideStrings)
      throw tooMany(what, maxBytesOutsideStrings, 'bytes outside of strings');
  }
}

function tooMany(what: string, max: number, unit: string): HttpError {
  return new HttpError('payload_too_large', `${what} must have at most ${max.toLocaleString('en')} ${unit}.`);
}

/** Returns the position of the quote that ends a string, or of the end of the text. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === backslash) at++;
    else if (bytes[at] === quote) return at;
  }
  return bytes.length;
}
