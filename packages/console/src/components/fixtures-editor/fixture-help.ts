import { findCursor } from '../schema-editor/schema-cursor.ts';
import type { KeyHelp, Suggestion, Suggestions } from '../schema-editor/schema-help.ts';
import { type FixturePlace, fixtureKeys, type KnownNames, placeOf } from './fixture-keys.ts';

/**
 * Suggests keys, and the names of exports and imports.
 *
 * @param isAsked whether the user asked for it; else an empty place where a key could stand has no suggestions
 */
export function suggestFor(names: KnownNames) {
  return (text: string, offset: number, isAsked: boolean): Suggestions | undefined => {
    const cursor = findCursor(text, offset);
    if (cursor === undefined || (cursor.expects === 'key' && cursor.word === '' && !isAsked)) return undefined;
    const { path, siblings, from, word } = cursor;
    const items =
      cursor.expects === 'key' ? suggestKeys(placeOf(path), siblings, text.slice(offset)) : suggestValues(path, names);
    const isComplete = !isAsked && items.some(({ label }) => label === word);
    return items.length === 0 || isComplete ? undefined : { from, items };
  };
}

function suggestKeys(
  place: FixturePlace | undefined,
  siblings: ReadonlyMap<string, string>,
  after: string,
): readonly Suggestion[] {
  if (place === undefined) return [];
  const hasColon = /^[\w"]*\s*:/.test(after);
  return Object.entries(fixtureKeys[place])
    .filter(([key]) => !siblings.has(key))
    .map(([key, { description, example }]) => ({
      label: key,
      description,
      text: `"${key}"${hasColon ? '' : `: ${example}`}`,
      hasValues: false,
    }));
}

function suggestValues(path: readonly (string | number)[], names: KnownNames): readonly Suggestion[] {
  return valuesAt(path, names).map((label) => ({ label, description: '', text: label, hasValues: false }));
}

function valuesAt(path: readonly (string | number)[], { exports, imports }: KnownNames): readonly string[] {
  const key = path.at(-1);
  switch (placeOf(path.slice(0, -1))) {
    case 'fixture':
      return key === 'export' ? exports.map((name) => JSON.stringify(name)) : [];
    case 'expect':
      return key === 'matchesSchema' || key === 'fails' ? ['true', 'false'] : [];
    case 'hostCall':
      return key === 'name' ? imports.map((name) => JSON.stringify(name)) : [];
    case undefined:
      return [];
  }
}

/** What the key at an offset means. */
export function fixtureHelpAt(text: string, offset: number): KeyHelp | undefined {
  const before = /"?[\w$-]*$/.exec(text.slice(Math.max(0, offset - 100), offset))?.[0].length ?? 0;
  const to = offset + (/^[\w$-]*"?/.exec(text.slice(offset, offset + 100))?.[0].length ?? 0);
  const cursor = findCursor(text, to);
  if (cursor === undefined) return undefined;
  const path = cursor.expects === 'key' ? [...cursor.path, cursor.word.replaceAll('"', '')] : cursor.path;
  const [place, key] = [placeOf(path.slice(0, -1)), path.at(-1)];
  if (place === undefined || typeof key !== 'string' || !Object.hasOwn(fixtureKeys[place], key)) return undefined;
  const description = fixtureKeys[place][key]?.description ?? '';
  return { key, description, leadsTo: 'value', from: offset - before, to };
}
