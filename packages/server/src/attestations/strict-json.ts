/** Thrown for text that is not the strict JSON that attestations must be. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError';
}

interface StrictJsonOptions {
  readonly maxDepth: number;
  /** The maximum number of values and property names together. */
  readonly maxValues: number;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses JSON that every reader must understand in the same way: UTF-8 without a byte order mark, no repeated property names, no
 * `__proto__`, and no U+0000.
 *
 * @throws StrictJsonError whose message completes "It …"
 */
export function parseStrictJson(bytes: Uint8Array, options: StrictJsonOptions): { text: string; value: unknown } {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new StrictJsonError('must be UTF-8');
  }
  checkStructure(text, options);
  try {
    return { text, value: JSON.parse(text) as unknown };
  } catch {
    throw new StrictJsonError('has a JSON syntax error');
  }
}

/** Checks the bounds and the property names in one pass, before the text is parsed. Syntax errors are left to the parser. */
function checkStructure(text: string, { maxDepth, maxValues }: StrictJsonOptions): void {
  const open: (Set<string> | undefined)[] = [];
  let values = 1;
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at);
        if (isName) addName(open.at(-1), text.slice(at, end + 1));
        else if (text.slice(at, end).includes('\\u0000')) throw new StrictJsonError('must not contain U+0000');
        isName = false;
        at = end;
        break;
      }
      case '{':
      case '[':
        values++;
        isName = text[at] === '{';
        open.push(isName ? new Set() : undefined);
        if (open.length > maxDepth) throw new StrictJsonError(`must be nested at most ${maxDepth} levels deep`);
        break;
      case '}':
      case ']':
        open.pop();
        isName = false;
        break;
      case ',':
        values++;
        isName = open.at(-1) !== undefined;
    }
    if (values > maxValues) throw new StrictJsonError(`must have at most ${maxValues.toLocaleString('en')} values`);
  }
}

function addName(names: Set<string> | undefined, literal: string): void {
  let name: string;
  try {
    name = JSON.parse(literal) as string;
  } catch {
    throw new StrictJsonError('has a JSON syntax error');
  }
  if (name === '__proto__' || name.includes('\0')) throw new StrictJsonError('has a forbidden property name');
  if (names?.has(name)) throw new StrictJsonError(`repeats the property ${JSON.stringify(name.slice(0, 100))}`);
  names?.add(name);
}

/** Returns the position of the quote that ends a string, or of the last character. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length - 1;
}
