import { componentPrefix, formatsOf, type KeyInfo, placeAt, schemaKeys } from '@tenon/extension-schema/vocabulary';
import { isMap, isScalar, parseDocument } from 'yaml';
import { findCursor, type SchemaCursor } from './schema-cursor.ts';

/** A key or value that can stand at the cursor. */
export interface Suggestion {
  readonly label: string;
  readonly description: string;
  /** What replaces the text from `from` to the cursor. */
  readonly text: string;
  /** Whether another suggestion follows: the key has known values. */
  readonly hasValues: boolean;
}

export interface Suggestions {
  readonly from: number;
  readonly items: readonly Suggestion[];
}

/**
 * Suggests keys or values for the cursor.
 *
 * @param isAsked whether the user asked for it; else an empty place where a key could stand has no suggestions
 */
export function suggest(text: string, offset: number, isAsked: boolean): Suggestions | undefined {
  const cursor = findCursor(text, offset);
  if (cursor === undefined || (cursor.expects === 'key' && cursor.word === '' && !isAsked)) return undefined;
  const items = cursor.expects === 'key' ? suggestKeys(text, offset, cursor) : suggestValues(text, cursor);
  // A popup would take the Enter after a word that is complete.
  const isComplete = !isAsked && items.some(({ label }) => label === cursor.word);
  return items.length === 0 || isComplete ? undefined : { from: cursor.from, items };
}

function suggestKeys(text: string, offset: number, { path, siblings, style, from }: SchemaCursor): Suggestion[] {
  const hasColon = /^["'\w$]*\s*:/.test(text.slice(offset, offset + 100));
  const column = from - text.lastIndexOf('\n', from - 1) - 1;
  return Object.entries(schemaKeys[placeAt(path)] ?? {})
    .filter(([key]) => !siblings.has(key))
    .map(([key, info]) => {
      const name = style === 'json' ? JSON.stringify(key) : key;
      const isBlock = style === 'block' && info.leadsTo !== 'value';
      const after = isBlock ? `:\n${' '.repeat(column + 2)}` : ': ';
      const hasValues = valuesOf(key, info, new Map()).length > 0 || key === '$ref';
      return { label: key, description: info.description, text: hasColon ? name : name + after, hasValues };
    });
}

function suggestValues(text: string, { path, siblings, style }: SchemaCursor): Suggestion[] {
  const key = path.at(-1);
  const info = infoOf(path);
  if (info === undefined || typeof key !== 'string') return [];
  const values =
    key === '$ref' ? componentsIn(text).map((name) => componentPrefix + name) : valuesOf(key, info, siblings);
  const isQuoted = key === '$ref' || (style === 'json' && key !== 'nullable');
  return values.map((value) => {
    const shown = isQuoted ? JSON.stringify(value) : value;
    return { label: shown, description: '', text: shown, hasValues: false };
  });
}

function valuesOf(key: string, { values = [] }: KeyInfo, siblings: ReadonlyMap<string, string>): readonly string[] {
  return key === 'format' ? formatsOf(siblings.get('type')) : values;
}

/** What is known of the key that a path ends with. */
function infoOf(path: SchemaCursor['path']): KeyInfo | undefined {
  const key = path.at(-1);
  const keys = schemaKeys[placeAt(path.slice(0, -1))];
  return keys !== undefined && typeof key === 'string' && Object.hasOwn(keys, key) ? keys[key] : undefined;
}

function componentsIn(text: string): string[] {
  const schemas = parseDocument(text, { prettyErrors: false, uniqueKeys: false }).getIn(['components', 'schemas']);
  if (!isMap(schemas)) return [];
  return schemas.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
}

/** What the key at an offset means, or the key of the value there. */
export interface KeyHelp extends KeyInfo {
  readonly key: string;
  /** The bounds of the word. */
  readonly from: number;
  readonly to: number;
}

export function helpAt(text: string, offset: number): KeyHelp | undefined {
  const to = offset + (/^[\w$-]*/.exec(text.slice(offset, offset + 100))?.[0].length ?? 0);
  const cursor = findCursor(text, to);
  if (cursor === undefined) return undefined;
  const { path, expects, word, from } = cursor;
  const whole = expects === 'key' ? [...path, word.replace(/^["']/, '')] : path;
  const info = infoOf(whole);
  return info && { ...info, key: String(whole.at(-1)), from, to };
}
