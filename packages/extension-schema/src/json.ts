/* JSON with integers of any size: `bigint` in memory, number tokens with all digits in the text. */

/** A run of digits that a number might not hold exactly. */
const minDigits = 16;

/** Longer integers, which no type has and bigints are slow for, are rounded to numbers, as by `JSON.parse`. */
const maxDigits = 1000;

/**
 * Parses JSON. Integers beyond 2^53 become bigints; other numbers are as `JSON.parse` returns them, as are integers of more than 1,000
 * digits.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const tokens = longIntegers(text);
  if (tokens.length === 0) return JSON.parse(text);
  // Long integers go through the parser as texts with a mark, which a hostile text can't have, since it was there before.
  const mark = crypto.getRandomValues(new Uint32Array(4)).join('-');
  const parts: string[] = [];
  let end = 0;
  for (const [from, to] of tokens) {
    parts.push(text.slice(end, from), `"${mark} `, text.slice(from, to), '"');
    end = to;
  }
  try {
    return JSON.parse(parts.join('') + text.slice(end), (_, value) => {
      if (typeof value !== 'string' || !value.startsWith(mark)) return value;
      return integerOf(value.slice(mark.length + 1));
    });
  } catch (error) {
    // Unlike the parser, the calls of the function above nest as the value does.
    throw error instanceof RangeError ? new SyntaxError('The JSON is nested too deep') : error;
  }
}

function integerOf(digits: string): unknown {
  const number: unknown = JSON.parse(digits); // refuses leading zeros
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** Finds the long integers outside of strings. */
function longIntegers(text: string): [from: number, to: number][] {
  const found: [number, number][] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at);
    else if (isDigit(text, at)) {
      const from = text[at - 1] === '-' ? at - 1 : at;
      const start = at;
      while (isDigit(text, at)) at++;
      const isInteger = text[at] !== '.' && text[at] !== 'e' && text[at] !== 'E';
      const isLong = at - start >= minDigits && at - start <= maxDigits;
      if (isInteger && isLong && !isExponent(text, from) && !isKey(text, at)) found.push([from, at]);
      else while (/[\d.eE+-]/.test(text[at] ?? '')) at++;
      at--;
    }
  }
  return found;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** Whether the digits belong to a malformed number, which the parser must see as it is. */
function isExponent(text: string, from: number): boolean {
  return /[\w.+-]/.test(text[from - 1] ?? '');
}

/** Whether a colon follows, before which the parser refuses numbers, but not the texts in their place. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return text[at] === ':';
}

/**
 * Writes JSON, as `JSON.stringify` does. Bigints become integers with all digits, and byte arrays base64.
 *
 * @throws RangeError for a value nested more deeply than the stack allows, such as a cyclic one
 */
export function stringifyJson(value: unknown): string {
  return write(value) ?? 'null';
}

function write(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Uint8Array) return `"${toBase64(value)}"`;
  if (Array.isArray(value)) return `[${value.map((item) => write(item) ?? 'null').join(',')}]`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON());
  const fields = Object.entries(value).flatMap(([name, entry]) => {
    const text = write(entry);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${fields.join(',')}}`;
}

const chunkBytes = 0x6000;

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  }
  return btoa(binary);
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
