import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { maxSchemaFaults, SchemaError, type SchemaFault, type TextPosition } from './error.ts';

/** The maximum number of tokens in a YAML text. An entry has about seven. */
const maxTokens = 10_000;

/** The maximum nesting depth, as for values: see `value.ts`. The parser's time per token grows with the depth. */
const maxDepth = 64;

/** The maximum number of repetitions through aliases: the parser's default. */
const maxAliasCount = 100;

/** One level of a block has up to four tokens in a line: an indicator, an anchor, a tag, and a key or value. */
const maxColumns = 4 * maxDepth;

/** The part of an entry to which a fault points: the key for a wrong name, otherwise the value. */
export type EntryPart = 'key' | 'value';

/** A parsed schema text. */
export interface SchemaText {
  /** Maps are `Map` objects, so that names such as `__proto__` have no effect. */
  readonly value: unknown;
  /** Returns the position of an entry, or of its nearest existing ancestor. */
  readonly locate: (keys: readonly (string | number)[], part: EntryPart) => TextPosition;
}

/**
 * Parses a YAML (1.2) or JSON text.
 *
 * @throws SchemaError with line and column
 */
export function readSchemaText(text: string): SchemaText {
  const lines = new LineCounter();
  const positionOf = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  assertSimpleText(text);
  // The parser's own check for repeated keys takes quadratic time: a second for 10,000 keys.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, schema: 'core' });
  throwFaults([...syntaxFaults(document.errors, positionOf), ...repeatedKeys(document, positionOf)]);
  if (!isMap(document.contents)) {
    throw fault('expected a YAML or JSON mapping at the top', positionOf(document.contents?.range?.[0] ?? 0));
  }
  try {
    const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount });
    return { value, locate: (keys, part) => positionOf(offsetOf(document, keys, part)) };
  } catch {
    throw fault('the text repeats itself through too many aliases', positionOf(firstAlias(document)));
  }
}

function fault(detail: string, position: TextPosition): SchemaError {
  return new SchemaError({ pointer: '', detail, position });
}

function throwFaults(faults: readonly SchemaFault[]): void {
  const [first, ...others] = faults.slice(0, maxSchemaFaults);
  if (first !== undefined) throw new SchemaError(first, ...others);
}

/** Reports only the first error of each line, since one mistake often causes several. */
function syntaxFaults(errors: readonly YAMLError[], positionOf: (offset: number) => TextPosition): SchemaFault[] {
  const byLine = new Map<number, SchemaFault>();
  for (const error of errors) {
    const position = positionOf(error.pos[0]);
    const detail = error.code === 'RESOURCE_EXHAUSTION' ? 'nested more than 64 deep' : error.message;
    if (!byLine.has(position.line)) byLine.set(position.line, { pointer: '', detail, position });
  }
  return [...byLine.values()];
}

/** Checks the number of tokens and the nesting depth in linear time, before the parser runs. */
function assertSimpleText(text: string): void {
  let tokens = 0;
  let offset = 0;
  let lineStart = 0;
  let flowDepth = 0;
  const columns: number[] = []; // the columns of the enclosing blocks
  for (const token of new Lexer().lex(text)) {
    // The lexer's marks for documents and scalars have no counterpart in the text.
    const isMark = token === '\u0002' || token === '\u0018' || token === '\u001f';
    if (++tokens > maxTokens) throw fault(`the text has more than ${maxTokens} tokens`, countLines(text, offset));
    if (token === '[' || token === '{') flowDepth++;
    else if (token === ']' || token === '}') flowDepth = Math.max(0, flowDepth - 1);
    if (!isMark && flowDepth === 0 && token.trim() !== '' && token !== ':') {
      const column = offset - lineStart;
      while ((columns.at(-1) ?? -1) >= column) columns.pop();
      columns.push(column);
    }
    if (flowDepth > maxDepth || columns.length > maxColumns)
      throw fault(`nested more than ${maxDepth} deep`, countLines(text, offset));
    if (!isMark) offset += token.length;
    if (token.endsWith('\n')) lineStart = offset;
  }
}

function countLines(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Finds repeated keys of a map. Compares them as strings, which they become in JSON. */
function repeatedKeys(document: Document.Parsed, positionOf: (offset: number) => TextPosition): SchemaFault[] {
  const faults: SchemaFault[] = [];
  visit(document, {
    Map(_, map) {
      const known = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (known.has(name)) {
          const position = positionOf(key.range?.[0] ?? 0);
          faults.push({
            pointer: '',
            detail: `the key ${JSON.stringify(name)} is repeated: keys must be unique`,
            position,
          });
          if (faults.length === maxSchemaFaults) return visit.BREAK;
        }
        known.add(name);
      }
      return undefined;
    },
  });
  return faults;
}

function firstAlias(document: Document.Parsed): number {
  let found = 0;
  visit(document, {
    Alias(_, alias) {
      found = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}

/** Returns the offset of an entry, by walking down the parsed document. Only faults need it. */
function offsetOf(document: Document.Parsed, keys: readonly (string | number)[], part: EntryPart): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const [depth, key] of keys.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const isLast = depth === keys.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (pair === undefined) return offset;
      offset = startOf(pair.key) ?? offset;
      if (isLast && part === 'key') return offset;
      node = pair.value;
    } else if (isSeq(node)) node = node.items[Number(key)];
    else return offset;
    // An omitted value has no position of its own, so its key's offset stays.
    if (!(isScalar(node) && node.source === '' && node.type === 'PLAIN')) offset = startOf(node) ?? offset;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
