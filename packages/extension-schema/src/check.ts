import { maxSchemaFaults } from './error.ts';
import { nearestWord } from './nearest-word.ts';
import type { SchemaPath } from './path.ts';
import type { EntryPart } from './text.ts';
import { isRecord, kindOf, type Plain } from './value.ts';

/* Building blocks for the rules of the schema format. */

/** Names in a schema become functions, types and fields in generated code of many languages. */
const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

export function isIdentifier(name: string): boolean {
  return identifier.test(name);
}

/** A fault whose position is not computed yet. */
export interface FoundFault {
  readonly path: SchemaPath | undefined;
  readonly part: EntryPart;
  readonly detail: string;
}

export interface Check {
  readonly faults: FoundFault[];
  /** What other tools accept and ignore: the schema stays valid. */
  readonly warnings: FoundFault[];
  /** The components that a `$ref` can name. */
  readonly components: Plain;
}

export type Rule = (check: Check, value: unknown, path: SchemaPath | undefined) => void;
export type Keywords = ReadonlyMap<string, Rule>;

export function addFault(check: Check, path: SchemaPath | undefined, detail: string, part: EntryPart = 'value'): void {
  if (check.faults.length < maxSchemaFaults) check.faults.push({ path, part, detail });
}

export function addWarning(
  check: Check,
  path: SchemaPath | undefined,
  detail: string,
  part: EntryPart = 'value',
): void {
  if (check.warnings.length < maxSchemaFaults) check.warnings.push({ path, part, detail });
}

/** Returns `; did you mean "greet"?`, or else the list of valid words if `list` is set. */
export function hint(wanted: unknown, words: readonly string[], list = true): string {
  const near = typeof wanted === 'string' ? nearestWord(wanted, words.slice(0, 1000)) : undefined;
  if (near !== undefined) return `; did you mean "${near}"?`;
  return list && words.length > 0 ? `; there are ${words.map((word) => `"${word}"`).join(', ')}` : '';
}

/** Quotes a name for an error message. Truncates it, since names are untrusted. */
export function shown(name: unknown): string {
  const text = JSON.stringify(name) ?? String(name);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** Whether a key is allowed: a keyword, or an extension of another tool, which begins with `x-`. */
function isKnown(keywords: Keywords, key: string): boolean {
  return keywords.has(key) || (key.startsWith('x-') && !key.startsWith('x-tenon-'));
}

/** Lists of more words are too long for a warning. */
const maxOfferedWords = 6;

/**
 * Checks the known keys of an object. An unknown key is ignored with a warning, as other tools ignore it. It is a fault if something that
 * the object needs is missing, because then it is probably that, misspelled.
 *
 * @param isIncomplete whether something is missing that the object needs
 */
export function checkKeywords(
  check: Check,
  value: unknown,
  path: SchemaPath | undefined,
  keywords: Keywords,
  what: string,
  isIncomplete: (value: Plain) => boolean = () => false,
): value is Plain {
  if (!isRecord(value)) {
    addFault(check, path, `expected ${what} as an object, found ${kindOf(value)}`);
    return false;
  }
  const words = [...keywords.keys()];
  for (const [key, entry] of Object.entries(value)) {
    const rule = keywords.get(key);
    const inner = { parent: path, key };
    if (rule !== undefined) rule(check, entry, inner);
    else if (!isKnown(keywords, key)) {
      const unknown = `${what} has no ${shown(key)}`;
      if (isIncomplete(value)) addFault(check, inner, unknown + hint(key, words), 'key');
      else addWarning(check, inner, `${unknown}, so it is ignored${ignoredHint(key, words)}`, 'key');
    }
    if (check.faults.length >= maxSchemaFaults) break;
  }
  return true;
}

function ignoredHint(key: string, words: readonly string[]): string {
  if (key === 'contentType') return '; it belongs to an "input" or "output"';
  return hint(key, words, words.length <= maxOfferedWords);
}

/** Whether each key of an object is known, so that no misspelled key stands for a missing one. */
export function hasOnlyKnownKeys(value: Plain, keywords: Keywords): boolean {
  return Object.keys(value).every((key) => isKnown(keywords, key));
}

export const text: Rule = (check, value, path) => {
  if (typeof value !== 'string') addFault(check, path, `expected text, found ${kindOf(value)}`);
};

export const flag: Rule = (check, value, path) => {
  if (typeof value !== 'boolean') addFault(check, path, `expected true or false, found ${kindOf(value)}`);
};

export function oneOf(words: readonly string[]): Rule {
  return (check, value, path) => {
    if (typeof value === 'string' && words.includes(value)) return;
    const found = typeof value === 'string' ? shown(value) : kindOf(value);
    addFault(
      check,
      path,
      `expected one of ${words.map((word) => `"${word}"`).join(', ')}, found ${found}${hint(value, words, false)}`,
    );
  };
}

export function listOf(rule: Rule, what: string): Rule {
  return (check, value, path) => {
    if (!Array.isArray(value)) return addFault(check, path, `expected a list of ${what}, found ${kindOf(value)}`);
    for (const [key, item] of value.entries()) rule(check, item, { parent: path, key });
  };
}

/** A map whose keys are identifiers. `null`, which YAML's `key:` without a value means, counts as an empty map. */
export function mapOf(rule: Rule, what: string): Rule {
  return (check, value, path) => {
    if (value === null) return;
    if (!isRecord(value)) return addFault(check, path, `expected a map of ${what}, found ${kindOf(value)}`);
    for (const [key, entry] of Object.entries(value)) {
      const inner = { parent: path, key };
      if (!isIdentifier(key)) addFault(check, inner, notIdentifier(key), 'key');
      rule(check, entry, inner);
    }
  };
}

export function notIdentifier(name: unknown): string {
  return `${shown(name)} is not an identifier: letters, digits, _ and $, no digit first`;
}
