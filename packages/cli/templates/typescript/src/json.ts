// JSON, for the bindings. A mistake in a value throws an error with the path to it, such as `input.address.zip`.

/** Reads a value of JSON. `at` is its path. */
export type Reader<T> = (value: unknown, at: string) => T;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'bigint') return 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function unexpected(expected: string, value: unknown, at: string): Error {
  return new Error(`${at}: expected ${expected}, found ${kindOf(value)}`);
}

export type JsonObject = { readonly [name: string]: unknown };

export function readObject(value: unknown, at: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw unexpected('an object', value, at);
}

export function required<T>(object: JsonObject, name: string, at: string, read: Reader<T>): T {
  if (!Object.prototype.hasOwnProperty.call(object, name)) throw new Error(`${at}.${name}: is missing`);
  return read(object[name], `${at}.${name}`);
}

export function optional<T>(object: JsonObject, name: string, at: string, read: Reader<T>): T | undefined {
  const value = Object.prototype.hasOwnProperty.call(object, name) ? object[name] : undefined;
  return value === undefined || value === null ? undefined : read(value, `${at}.${name}`);
}

export const nullable =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value, at) =>
    value === null ? null : read(value, at);

export const list =
  <T>(read: Reader<T>): Reader<T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) throw unexpected('a list', value, at);
    return value.map((item, index) => read(item, `${at}[${index}]`));
  };

export const map =
  <T>(read: Reader<T>): Reader<{ [name: string]: T }> =>
  (value, at) => {
    const result: { [name: string]: T } = Object.create(null);
    for (const [name, item] of Object.entries(readObject(value, at))) result[name] = read(item, `${at}.${name}`);
    return result;
  };

export const oneOf =
  <T extends string>(names: readonly T[]): Reader<T> =>
  (value, at) => {
    const text = readString(value, at);
    const found = names.find((name) => name === text);
    if (found === undefined) throw new Error(`${at}: expected one of ${names.join(', ')}, found ${JSON.stringify(text)}`);
    return found;
  };

export const readAny: Reader<unknown> = (value) => value;

export const readString: Reader<string> = (value, at) => {
  if (typeof value === 'string') return value;
  throw unexpected('a string', value, at);
};

export const readBoolean: Reader<boolean> = (value, at) => {
  if (typeof value === 'boolean') return value;
  throw unexpected('a boolean', value, at);
};

export const readNumber: Reader<number> = (value, at) => {
  if (typeof value !== 'number' && typeof value !== 'bigint') throw unexpected('a number', value, at);
  if (!Number.isFinite(Number(value))) throw new Error(`${at}: ${value} is out of range`);
  return Number(value);
};

export const integer =
  (lowest: bigint, highest: bigint): Reader<bigint> =>
  (value, at) => {
    if (typeof value !== 'bigint' && !Number.isInteger(readNumber(value, at))) {
      throw new Error(`${at}: expected an integer, found ${value}`);
    }
    const whole = BigInt(value as number | bigint);
    if (whole < lowest || whole > highest) throw new Error(`${at}: ${whole} is out of range`);
    return whole;
  };

export const smallInteger = (lowest: number, highest: number): Reader<number> => {
  const read = integer(BigInt(lowest), BigInt(highest));
  return (value, at) => Number(read(value, at));
};

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Bytes are base64 in JSON. */
export const readBytes: Reader<Uint8Array> = (value, at) => {
  const text = readString(value, at).replace(/=+$/, '').replace(/-/g, '+').replace(/_/g, '/');
  if (text.length % 4 === 1) throw new Error(`${at}: expected base64`);
  const digits = new Int8Array(128).fill(-1);
  for (let digit = 0; digit < 64; digit++) digits[alphabet.charCodeAt(digit)] = digit;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  for (let from = 0, to = 0, bits = 0; from < text.length; from++) {
    const digit = digits[text.charCodeAt(from)] ?? -1;
    if (digit < 0) throw new Error(`${at}: expected base64`);
    bits = (bits << 6) | digit;
    if (from % 4 > 0) bytes[to++] = bits >> (6 - 2 * (from % 4));
  }
  return bytes;
};

function base64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const bits = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    let four = '';
    for (let part = 0; part < 4; part++) four += part > left ? '=' : alphabet.charAt((bits >> (18 - 6 * part)) & 63);
    parts.push(four);
  }
  return parts.join('');
}

/** Writes a value as JSON, with bigints as numbers and bytes as base64. */
export function toJson(value: unknown, at = 'output'): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${at}: ${value} can't be represented in JSON`);
  if (value instanceof Uint8Array) return `"${base64(value)}"`;
  if (Array.isArray(value)) return `[${value.map((item, index) => toJson(item, `${at}[${index}]`)).join(',')}]`;
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value);
    if (text === undefined) throw new Error(`${at}: is missing`);
    return text;
  }
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${toJson(item, `${at}.${name}`)}`).join(',')}}`;
}

const maxDepth = 200;

/** Parses JSON. Integers beyond 2^53 are bigints, since numbers would lose their last digits. */
export function parse(text: string): unknown {
  let at = 0;
  const invalid = () => new Error(`input: invalid JSON at character ${at}`);
  const next = () => {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
    return text.charAt(at);
  };
  const skip = (character: string) => {
    if (next() !== character) throw invalid();
    at++;
  };
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) throw invalid();
    at += found[0].length;
    return found[0];
  };
  const string = (): string => {
    const start = at++;
    for (; text.charAt(at) !== '"'; at++) {
      if (at >= text.length) throw invalid();
      if (text.charAt(at) === '\\') at++;
    }
    at++;
    try {
      return JSON.parse(text.slice(start, at));
    } catch {
      throw invalid();
    }
  };
  const number = (): number | bigint => {
    const digits = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    const value = Number(digits);
    return Number.isSafeInteger(value) || /[.eE]/.test(digits) ? value : BigInt(digits);
  };
  const elements = (close: string, read: () => void) => {
    at++;
    for (let count = 0; next() !== close; count++) {
      if (count > 0) skip(',');
      next();
      read();
    }
    at++;
  };
  const value = (depth: number): unknown => {
    if (depth > maxDepth) throw new Error(`input: nested more than ${maxDepth} deep`);
    const first = next();
    if (first === '"') return string();
    if (first === '[') {
      const items: unknown[] = [];
      elements(']', () => items.push(value(depth + 1)));
      return items;
    }
    if (first === '{') {
      const object: { [name: string]: unknown } = Object.create(null);
      elements('}', () => {
        if (text.charAt(at) !== '"') throw invalid();
        const name = string();
        skip(':');
        object[name] = value(depth + 1);
      });
      return object;
    }
    if (first === 't' || first === 'f' || first === 'n') return JSON.parse(match(/true|false|null/y));
    return number();
  };
  const result = value(0);
  if (next() !== '') throw invalid();
  return result;
}
