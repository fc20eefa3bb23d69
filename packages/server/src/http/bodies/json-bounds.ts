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
}

const [quote, backslash] = [0x22, 0x5c];
const [opening, closing] = [
  [0x5b, 0x7b],
  [0x5d, 0x7d],
] as const;
const separators = [0x2c, 0x3a]; // , :

/**
 * Checks the depth and the number of values of JSON text before it is parsed, because a large body of tiny values takes long to parse and
 * to validate. Strings are skipped, so that a long one costs little.
 *
 * @throws HttpError `payload_too_large`, DomainError `malformed_json` for JSON that is nested too deeply
 */
export function requireJsonBounds(bytes: Buffer, { maxValues, maxDepth }: JsonBounds, what: string): void {
  let [depth, values] = [0, 1];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) at = endOfString(bytes, at);
    else if (opening.includes(byte as never)) {
      depth++;
      values++;
      if (depth > maxDepth) {
        throw new DomainError('malformed_json', `${what} must be nested at most ${maxDepth} levels deep.`);
      }
    } else if (closing.includes(byte as never)) depth--;
    else if (separators.includes(byte) && ++values > maxValues) {
      throw new HttpError('payload_too_large', `${what} must have at most ${maxValues.toLocaleString('en')} values.`);
    }
  }
}

/** Returns the position of the quote that ends a string, or of the end of the text. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    at = bytes.indexOf(quote, at + 1);
    if (at === -1) return bytes.length;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return at;
  }
}
