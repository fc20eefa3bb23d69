/* Finds the place of the cursor in a schema's text, which may be incomplete: YAML in blocks, with flow collections on one line, or JSON. */

export type PathKey = string | number;

/** The place of the cursor. */
export interface SchemaCursor {
  /** The keys and indices of the object that it is in; if a value is expected, with the value's key. */
  readonly path: readonly PathKey[];
  readonly expects: 'key' | 'value';
  /** What stands before the cursor of the key or value, and where that begins. */
  readonly word: string;
  readonly from: number;
  /** The other keys of the same object, with the text after each on its line. */
  readonly siblings: ReadonlyMap<string, string>;
  readonly style: 'block' | 'flow' | 'json';
}

/** Returns `undefined` where there is neither a key nor a value, such as in a comment. */
export function findCursor(text: string, offset: number): SchemaCursor | undefined {
  const isJson = /^\s*[{[]/.test(text);
  if (isJson) return readFlow(text, 0, offset, [], 'json');
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const line = readLine(text.slice(lineStart, offset));
  const { content, column } = line;
  if (content.startsWith('#')) return undefined;
  const above = text.slice(0, lineStart).split('\n').slice(0, -1).map(readLine);
  const below = text.slice(offset).split('\n').slice(1).map(readLine);
  const path = findPath(above, line);
  const siblings = findSiblings(above, line, below);
  const { key, value, valueColumn } = line;
  if (key === undefined) {
    return { path, expects: 'key', word: content, from: lineStart + column, siblings, style: 'block' };
  }
  const from = lineStart + valueColumn;
  if (/^[{[]/.test(value)) return readFlow(text, from, offset, [...path, key], 'flow');
  return { path: [...path, key], expects: 'value', word: value, from, siblings, style: 'block' };
}

interface Line {
  /** Columns of the dashes of list items. */
  readonly dashes: readonly number[];
  /** The column behind the indentation and the dashes. */
  readonly column: number;
  readonly content: string;
  readonly key: string | undefined;
  readonly value: string;
  readonly valueColumn: number;
}

const keyPattern = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#{}[\],:][^{}[\],:]*?)(\s*:)(?:(\s+)(.*))?$/;

function readLine(text: string): Line {
  const [, indent = '', marks = '', content = ''] = /^( *)((?:-(?: +|$))*)(.*)$/.exec(text.replace(/\r$/, '')) ?? [];
  const column = indent.length + marks.length;
  const dashes = [...marks.matchAll(/-/g)].map(({ index }) => indent.length + index);
  const [, quoted, colon = '', space, value = ''] = keyPattern.exec(content) ?? [];
  if (quoted === undefined) return { dashes, column, content, key: undefined, value: '', valueColumn: 0 };
  if (space === undefined && value === '' && content !== quoted + colon) {
    return { dashes, column, content, key: undefined, value: '', valueColumn: 0 };
  }
  const valueColumn = column + quoted.length + colon.length + (space?.length ?? 0);
  return { dashes, column, content, key: quoted.replace(/^(["'])(.*)\1$/, '$2'), value, valueColumn };
}

function isEmpty({ content, dashes }: Line): boolean {
  return dashes.length === 0 && (content.trim() === '' || content.startsWith('#'));
}

/** The keys and indices of the blocks around a line, the outermost first. */
function findPath(above: readonly Line[], { dashes, column }: Line): PathKey[] {
  const path: PathKey[] = [];
  let [keyLimit, dashLimit] = [column, column];
  const enterItems = (columns: readonly number[]) => {
    for (const dash of columns.toReversed()) {
      if (dash >= dashLimit) continue;
      path.unshift(0);
      [keyLimit, dashLimit] = [dash + 1, dash]; // a list may stand in the column of its key
    }
  };
  enterItems(dashes);
  for (const line of above.toReversed()) {
    if (isEmpty(line)) continue;
    if (line.key !== undefined && line.column < keyLimit) {
      path.unshift(line.key);
      [keyLimit, dashLimit] = [line.column, line.column];
    }
    enterItems(line.dashes);
  }
  return path;
}

/** The keys in the column of a line, in the same block. */
function findSiblings(above: readonly Line[], { column, dashes }: Line, below: readonly Line[]): Map<string, string> {
  const siblings = new Map<string, string>();
  const add = (lines: readonly Line[]) => {
    for (const line of lines) {
      if (isEmpty(line)) continue;
      if (line.column === column && line.key !== undefined) siblings.set(line.key, line.value);
      if (Math.min(line.column, ...line.dashes) < column) return; // the line that the block begins with, or one after it
    }
  };
  if (dashes.length === 0) add(above.toReversed());
  const end = below.findIndex((line) => !isEmpty(line) && Math.min(line.column, ...line.dashes) < column);
  add(end === -1 ? below : below.slice(0, end));
  return siblings;
}

interface Frame {
  readonly isMap: boolean;
  key: string | undefined;
  index: number;
  readonly keys: Map<string, string>;
}

/** Reads flow collections from `start` to the cursor. */
function readFlow(
  text: string,
  start: number,
  end: number,
  base: readonly PathKey[],
  style: 'flow' | 'json',
): SchemaCursor | undefined {
  const frames: Frame[] = [];
  let [word, from, isOpen] = ['', end, false];
  for (let at = start; at < end; ) {
    const frame = frames.at(-1);
    const character = text[at] as string;
    if (/[\s,:{}[\]]/.test(character)) {
      if (character === ':' && frame?.isMap) frame.key ??= unquote(word);
      else if (character === ',' && frame !== undefined) [frame.key, frame.index] = [undefined, frame.index + 1];
      else if (character === '{' || character === '[') {
        frames.push({ isMap: character === '{', key: undefined, index: 0, keys: new Map() });
      } else if (character === '}' || character === ']') frames.pop();
      if (!/\s/.test(character)) word = '';
      isOpen = false;
      at++;
      continue;
    }
    const token = /^(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|(?:[^\s,:{}[\]]|:(?=[^\s,{}[\]])| (?=[^\s,:{}[\]"']))+)/.exec(
      text.slice(at, end),
    ) ?? [character];
    [word, from] = [token[0], at];
    at += token[0].length;
    isOpen = true;
    if (frame?.key !== undefined) frame.keys.set(frame.key, unquote(word));
  }
  const frame = frames.at(-1);
  if (frame === undefined) return undefined;
  const path = [...base, ...frames.flatMap(({ isMap, key, index }) => (isMap ? (key ?? []) : index))];
  const expects = frame.isMap && frame.key === undefined ? 'key' : 'value';
  return { path, expects, word: isOpen ? word : '', from: isOpen ? from : end, siblings: frame.keys, style };
}

function unquote(word: string): string {
  return word.replace(/^(["'])(.*?)\1?$/s, '$2');
}
