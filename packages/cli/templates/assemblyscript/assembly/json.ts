// Reads values from JSON, for the bindings. A mistake fails the call with the path to it, such as `input.address.zip`. AssemblyScript
// has no exceptions: what follows a failure returns empty values, which the bindings discard.

import { parseDecimal } from "./decimal";
import { fail, hasFailed } from "./extism";
import { Parser, Writer } from "./json-text";
export { Writer };

export enum Kind {
  Null,
  Boolean,
  Number,
  String,
  List,
  Object,
}

const kindNames: string[] = ["null", "a boolean", "a number", "a string", "a list", "an object"];

/** Any JSON value. Numbers keep their digits, so that none loses precision. */
export class Json {
  /** The elements of a list, or the values of an object. */
  items: Json[] | null = null;
  /** The names of an object's values. */
  names: string[] | null = null;

  constructor(
    public kind: Kind = Kind.Null,
    /** A string's text, a number's digits, `true` or `false`. */
    public text: string = "",
  ) {}

  static parse(text: string): Json {
    path.length = 0;
    return new Parser(text).document();
  }

  toString(): string {
    const writer = new Writer();
    writer.json(this);
    return writer.toString();
  }

  /** The value of a name of an object. */
  get(name: string): Json | null {
    const names = this.names;
    if (names === null) return null;
    const at = names.lastIndexOf(name);
    return at < 0 ? null : (this.items as Json[])[at];
  }
}

/** A number, boolean or enumeration that can be null. */
export class Box<T> {
  constructor(public value: T) {}
}

const path: string[] = [];

function mistake(what: string): void {
  fail("input" + path.join("") + ": " + what);
}

function expect(json: Json, kind: Kind): bool {
  if (json.kind == kind) return true;
  mistake("expected " + kindNames[kind] + ", found " + kindNames[json.kind]);
  return false;
}

/** What a value is after a failure. */
function nothing<T>(): T {
  return isReference<T>() ? changetype<T>(0) : <T>0;
}

export function required<T>(json: Json, name: string, read: (json: Json) => T): T {
  if (!expect(json, Kind.Object)) return nothing<T>();
  path.push("." + name);
  const found = json.get(name);
  if (found === null) mistake("is missing");
  const value = found === null || hasFailed() ? nothing<T>() : read(found);
  path.pop();
  return value;
}

export function optional<T>(json: Json, name: string, read: (json: Json) => T): T | null {
  if (!expect(json, Kind.Object)) return null;
  const found = json.get(name);
  if (found === null || found.kind == Kind.Null) return null;
  return required<T>(json, name, read);
}

export function nullable<T>(json: Json, read: (json: Json) => T): T | null {
  return json.kind == Kind.Null ? null : read(json);
}

export function readString(json: Json): string {
  return expect(json, Kind.String) ? json.text : "";
}

export function readBoolean(json: Json): bool {
  return expect(json, Kind.Boolean) && json.text == "true";
}

export function readNumber<T extends number>(json: Json): T {
  if (!expect(json, Kind.Number)) return 0;
  const value = parseDecimal(json.text);
  if (!isFinite(<T>value)) mistake(json.text + " is out of range");
  return <T>value;
}

export function readInteger<T extends number>(json: Json): T {
  if (!expect(json, Kind.Number)) return 0;
  let text = json.text;
  if (text.includes(".") || text.includes("e") || text.includes("E")) {
    // An integer with a fraction or an exponent, such as 1.0 or 1e3.
    const whole = parseDecimal(text);
    if (whole != Math.floor(whole)) {
      mistake("expected an integer, found " + text);
      return 0;
    }
    if (Math.abs(whole) <= 9007199254740991) text = (<i64>whole).toString();
  }
  const isNegative = text.startsWith("-");
  const limit: u64 = isSigned<T>() ? (<u64>1 << (sizeof<T>() * 8 - 1)) - (isNegative ? 0 : 1) : isNegative ? 0 : <u64>(<T>-1);
  let value: u64 = 0;
  for (let at = isNegative ? 1 : 0; at < text.length; at++) {
    const digit = <u64>(text.charCodeAt(at) - 48);
    if (digit > 9 || value > limit / 10 || value * 10 > limit - digit) {
      mistake(text + " is out of range");
      return 0;
    }
    value = value * 10 + digit;
  }
  return <T>(isNegative ? 0 - value : value);
}

export function readBytes(json: Json): Uint8Array {
  if (!expect(json, Kind.String)) return new Uint8Array(0);
  const text = json.text;
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) == 61) length--;
  const bytes = new Uint8Array(<i32>((<i64>length * 3) / 4));
  let bits: u32 = 0;
  for (let at = 0, to = 0; at < length; at++) {
    const value = base64Value(text.charCodeAt(at));
    if (value < 0 || length % 4 == 1) {
      mistake("expected base64");
      break;
    }
    bits = (bits << 6) | value;
    if (at % 4 > 0) bytes[to++] = <u8>(bits >> (6 - 2 * (at % 4)));
  }
  return bytes;
}

function base64Value(code: i32): i32 {
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  return code == 43 || code == 45 ? 62 : code == 47 || code == 95 ? 63 : -1;
}

export function readList<T>(json: Json, read: (json: Json) => T): T[] {
  const values = new Array<T>();
  if (!expect(json, Kind.List)) return values;
  const items = json.items as Json[];
  for (let at = 0; at < items.length && !hasFailed(); at++) {
    path.push("[" + at.toString() + "]");
    values.push(read(items[at]));
    path.pop();
  }
  return values;
}

export function readMap<T>(json: Json, read: (json: Json) => T): Map<string, T> {
  const values = new Map<string, T>();
  if (!expect(json, Kind.Object)) return values;
  const names = json.names as string[];
  for (let at = 0; at < names.length && !hasFailed(); at++) {
    path.push("." + names[at]);
    values.set(names[at], read((json.items as Json[])[at]));
    path.pop();
  }
  return values;
}

export function readEnum(json: Json, names: string[]): i32 {
  return expect(json, Kind.String) ? enumIndex(json.text, names) : 0;
}

export function enumIndex(text: string, names: string[]): i32 {
  const at = names.indexOf(text);
  if (at < 0) mistake('expected one of "' + names.join('", "') + '", found "' + text + '"');
  return max(at, 0);
}
