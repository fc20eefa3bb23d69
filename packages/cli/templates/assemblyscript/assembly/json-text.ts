// The text of JSON: a parser and a writer.

import { formatDecimal } from "./decimal";
import { fail } from "./extism";
import { Json, Kind } from "./json";

const maxDepth = 200;

/** Writes JSON. */
export class Writer {
  private parts: string[] = [];
  private isFirst: bool = true;

  toString(): string {
    return this.parts.join("");
  }

  begin(bracket: string): void {
    this.parts.push(bracket);
    this.isFirst = true;
  }

  end(bracket: string): void {
    this.parts.push(bracket);
    this.isFirst = false;
  }

  item(): void {
    if (!this.isFirst) this.parts.push(",");
    this.isFirst = false;
  }

  name(name: string): void {
    this.item();
    this.string(name);
    this.parts.push(":");
  }

  null(): void {
    this.parts.push("null");
  }

  boolean(value: bool): void {
    this.parts.push(value ? "true" : "false");
  }

  integer<T extends number>(value: T): void {
    this.parts.push(value.toString());
  }

  number<T extends number>(value: T): void {
    if (isFinite(value)) this.parts.push(formatDecimal(<f64>value));
    else fail("output: " + (<f64>value).toString() + " can't be represented in JSON");
  }

  bytes(value: Uint8Array): void {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const length = value.length;
    const codes = new Uint16Array(((length + 2) / 3) * 4);
    for (let at = 0, to = 0; at < length; at += 3) {
      const left = length - at;
      const bits =
        (<u32>value[at] << 16) | (left > 1 ? <u32>value[at + 1] << 8 : 0) | (left > 2 ? <u32>value[at + 2] : 0);
      for (let part = 0; part < 4; part++) {
        codes[to++] = <u16>(part > left ? 61 : alphabet.charCodeAt((bits >> (18 - 6 * part)) & 63));
      }
    }
    this.parts.push('"' + String.UTF16.decode(codes.buffer) + '"');
  }

  string(value: string): void {
    let text = '"';
    let from = 0;
    for (let at = 0; at < value.length; at++) {
      const code = value.charCodeAt(at);
      if (code >= 32 && code != 34 && code != 92) continue;
      text += value.substring(from, at);
      text += code < 32 ? "\\u00" + (code < 16 ? "0" : "1") + (code & 15).toString(16) : "\\" + String.fromCharCode(code);
      from = at + 1;
    }
    this.parts.push(from == 0 ? text + value + '"' : text + value.substring(from) + '"');
  }

  list<T>(values: T[], write: (writer: Writer, value: T) => void): void {
    this.begin("[");
    for (let at = 0; at < values.length; at++) {
      this.item();
      write(this, values[at]);
    }
    this.end("]");
  }

  map<T>(values: Map<string, T>, write: (writer: Writer, value: T) => void): void {
    this.begin("{");
    const names = values.keys();
    for (let at = 0; at < names.length; at++) {
      this.name(names[at]);
      write(this, values.get(names[at]));
    }
    this.end("}");
  }

  json(value: Json): void {
    const items = value.items;
    if (value.kind == Kind.Null) this.null();
    else if (value.kind == Kind.String) this.string(value.text);
    else if (items === null) this.parts.push(value.text);
    else {
      const names = value.names;
      this.begin(names === null ? "[" : "{");
      for (let at = 0; at < items.length; at++) {
        if (names === null) this.item();
        else this.name(names[at]);
        this.json(items[at]);
      }
      this.end(names === null ? "]" : "}");
    }
  }
}

/** Parses JSON. After a failure it is at the end of the text. */
export class Parser {
  private at: i32 = 0;
  private depth: i32 = 0;

  constructor(private text: string) {}

  document(): Json {
    const value = this.value();
    return this.next() < 0 ? value : this.unexpected();
  }

  private unexpected(): Json {
    fail("input: invalid JSON at character " + this.at.toString());
    this.at = this.text.length;
    return new Json();
  }

  /** The code of the next character that is not white space; -1 at the end. */
  private next(): i32 {
    for (; this.at < this.text.length; this.at++) {
      const code = this.text.charCodeAt(this.at);
      if (code != 32 && code != 9 && code != 10 && code != 13) return code;
    }
    return -1;
  }

  private value(): Json {
    const code = this.next();
    if (code == 123 || code == 91) return this.list(code == 123);
    if (code == 34) return new Json(Kind.String, this.string());
    if (code == 45 || (code >= 48 && code <= 57)) return this.number();
    if (this.skip("true")) return new Json(Kind.Boolean, "true");
    if (this.skip("false")) return new Json(Kind.Boolean, "false");
    if (this.skip("null")) return new Json();
    return this.unexpected();
  }

  private skip(word: string): bool {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  private list(isObject: bool): Json {
    if (++this.depth > maxDepth) {
      fail("input: nested more than " + maxDepth.toString() + " deep");
      return this.unexpected();
    }
    const json = new Json(isObject ? Kind.Object : Kind.List);
    const items: Json[] = [];
    const names: string[] = [];
    const close = isObject ? 125 : 93;
    this.at++;
    while (this.next() != close || items.length > 0) {
      if (isObject) {
        if (this.next() != 34) return this.unexpected();
        names.push(this.string());
        if (this.next() != 58) return this.unexpected();
        this.at++;
      }
      items.push(this.value());
      const code = this.next();
      if (code == close) break;
      if (code != 44) return this.unexpected();
      this.at++;
    }
    this.at++;
    this.depth--;
    json.items = items;
    if (isObject) json.names = names;
    return json;
  }

  private digits(): void {
    const start = this.at;
    while (this.at < this.text.length && <u32>(this.text.charCodeAt(this.at) - 48) < 10) this.at++;
    if (this.at == start) this.unexpected();
  }

  private number(): Json {
    const start = this.at;
    this.skip("-");
    if (!this.skip("0")) this.digits();
    if (this.skip(".")) this.digits();
    if (this.skip("e") || this.skip("E")) {
      if (!this.skip("+")) this.skip("-");
      this.digits();
    }
    return new Json(Kind.Number, this.text.substring(start, this.at));
  }

  private string(): string {
    const text = this.text;
    const parts: string[] = [];
    let from = ++this.at;
    for (; ; this.at++) {
      const code = this.at < text.length ? text.charCodeAt(this.at) : 0;
      if (code < 32) {
        this.unexpected();
        return "";
      }
      if (code == 34) break;
      if (code != 92) continue;
      parts.push(text.substring(from, this.at++));
      parts.push(this.escaped());
      from = this.at + 1;
    }
    parts.push(text.substring(from, this.at++));
    return parts.length == 1 ? parts[0] : parts.join("");
  }

  private escaped(): string {
    const code = this.at < this.text.length ? this.text.charCodeAt(this.at) : 0;
    const simple = '"\\/bfnrt'.indexOf(String.fromCharCode(code));
    if (simple >= 0) return '"\\/\b\f\n\r\t'.charAt(simple);
    if (code != 117 || this.at + 4 >= this.text.length) return this.noEscape();
    let unit: i32 = 0;
    for (let end = this.at + 4; this.at < end; ) {
      const digit = this.text.charCodeAt(++this.at);
      const lower = digit | 32;
      const value = digit >= 48 && digit <= 57 ? digit - 48 : lower >= 97 && lower <= 102 ? lower - 87 : -1;
      if (value < 0) return this.noEscape();
      unit = (unit << 4) | value;
    }
    return String.fromCharCode(unit);
  }

  private noEscape(): string {
    this.unexpected();
    return "";
  }
}
