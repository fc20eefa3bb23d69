/* A JSON parser that knows where each value is. `JSON.parse` has no places, and its messages differ between browsers. */

export interface TextRange {
  /** Offsets into the text, in UTF-16 code units. */
  readonly from: number;
  readonly to: number;
}

export type ParsedJson =
  | { readonly isSound: true; readonly value: unknown; readonly ranges: ReadonlyMap<string, TextRange> }
  | { readonly isSound: false; readonly detail: string; readonly range: TextRange };

/** Deeper texts are refused, so that the parser cannot run out of stack. */
const maxDepth = 200;

class JsonFault extends Error {
  readonly from: number;
  readonly to: number;
  constructor(message: string, from: number, to = from + 1) {
    super(message);
    this.from = from;
    this.to = to;
  }
}

/** Parses JSON. `ranges` holds the place of each value by its JSON pointer; a key of an object has its own under `<pointer>#key`. */
export function parseJson(text: string): ParsedJson {
  const ranges = new Map<string, TextRange>();
  let at = 0;
  const skip = (): void => {
    while (/[ \t\r\n]/.test(text[at] ?? '')) at++;
  };
  const found = (): string => (at < text.length ? `found ${JSON.stringify(text[at])}` : 'the text ends');
  const expect = (character: string, where: string): void => {
    if (text[at] !== character)
      throw new JsonFault(`expected ${JSON.stringify(character)} ${where}, but ${found()}`, at);
    at++;
  };
  const readString = (): string => {
    const from = at;
    const [token] = /^"(?:[^"\\\n]|\\.)*"/.exec(text.slice(at)) ?? [];
    if (token === undefined)
      throw new JsonFault('this text has no closing quotation mark', from, endOfLine(text, from));
    at += token.length;
    try {
      return JSON.parse(token);
    } catch {
      throw new JsonFault('this text has an invalid escape or a control character', from, at);
    }
  };
  const readScalar = (): unknown => {
    const from = at;
    const [token = ''] = /^[^\s,:[\]{}"]+/.exec(text.slice(at)) ?? [];
    at += token.length;
    try {
      return JSON.parse(token);
    } catch {
      const what = token === '' ? `expected a value, but ${found()}` : `${JSON.stringify(token)} is not a JSON value`;
      throw new JsonFault(what, from, Math.max(at, from + 1));
    }
  };
  const readItems = (close: string, readItem: (index: number) => void): void => {
    at++;
    skip();
    if (text[at] === close) {
      at++;
      return;
    }
    for (let index = 0; ; index++) {
      readItem(index);
      skip();
      if (text[at] === close) break;
      expect(',', `or ${JSON.stringify(close)}`);
      skip();
      if (text[at] === close) throw new JsonFault('JSON has no comma after the last item', at);
    }
    at++;
  };
  const readValue = (pointer: string, depth: number): unknown => {
    if (depth > maxDepth) throw new JsonFault(`more than ${maxDepth} levels`, at);
    skip();
    const from = at;
    const value = readAny(pointer, depth);
    ranges.set(pointer, { from, to: at });
    return value;
  };
  const readAny = (pointer: string, depth: number): unknown => {
    if (text[at] === '"') return readString();
    if (text[at] === '[') {
      const list: unknown[] = [];
      readItems(']', (index) => list.push(readValue(`${pointer}/${index}`, depth + 1)));
      return list;
    }
    if (text[at] !== '{') return readScalar();
    const entries = new Map<string, unknown>();
    readItems('}', () => {
      const from = at;
      if (text[at] !== '"') throw new JsonFault(`expected a key in quotation marks, but ${found()}`, at);
      const key = readString();
      if (entries.has(key)) throw new JsonFault(`the key ${JSON.stringify(key)} occurs twice`, from, at);
      const inner = pointerTo(pointer, key);
      ranges.set(`${inner}#key`, { from, to: at });
      skip();
      expect(':', 'after the key');
      entries.set(key, readValue(inner, depth + 1));
    });
    return Object.fromEntries(entries);
  };
  try {
    const value = readValue('', 0);
    skip();
    if (at < text.length) throw new JsonFault('the JSON ends before this', at, text.length);
    return { isSound: true, value, ranges };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const { message, from, to } = error;
    return { isSound: false, detail: message, range: { from, to: Math.min(to, text.length) } };
  }
}

/** The JSON pointer of a member. */
export function pointerTo(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
