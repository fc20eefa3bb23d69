import { SchemaError } from './error.ts';
import { keysOf, pointerTo, type SchemaPath } from './path.ts';
import type { SchemaText } from './text.ts';

/** How deep a schema may be nested; deeper ones serve nobody and cost every reader. */
const maxDepth = 64;

/** How many entries a schema may have in all, aliases counted as often as they are used. */
const maxEntries = 20_000;

/** A map without a prototype. */
export type Plain = { [name: string]: unknown };

/**
 * A copy made of objects without prototypes, lists and JSON's own values, so that names such as `__proto__` are only names.
 *
 * @throws SchemaError for what JSON can't say, and for what is nested too deep or too large
 */
export function plainCopy(root: unknown, locate: SchemaText['locate'] | undefined): unknown {
  let entries = 0;
  const refuse = (detail: string, path: SchemaPath | undefined): SchemaError => {
    const keys = keysOf(path);
    return new SchemaError({ pointer: pointerTo(keys), detail, position: locate?.(keys, 'value') });
  };
  const copy = (value: unknown, depth: number, path: SchemaPath | undefined): unknown => {
    if (depth > maxDepth) throw refuse(`is nested more than ${maxDepth} deep`, path);
    if (++entries > maxEntries) throw refuse(`has more than ${maxEntries} entries`, path);
    if (Array.isArray(value)) return value.map((item, key) => copy(item, depth + 1, { parent: path, key }));
    if (value instanceof Map) return copyEntries(value.entries(), depth, path);
    if (typeof value === 'object' && value !== null) return copyEntries(Object.entries(value), depth, path);
    if (typeof value === 'number' && !Number.isFinite(value)) throw refuse(`${value} has no form in JSON`, path);
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
    throw refuse(`a ${typeof value} has no form in JSON`, path);
  };
  const copyEntries = (pairs: Iterable<[unknown, unknown]>, depth: number, path: SchemaPath | undefined): Plain => {
    const object: Plain = Object.create(null);
    for (const [key, value] of pairs) {
      if (typeof key === 'object' && key !== null) throw refuse('has a key that is no text', path);
      const name = String(key);
      object[name] = copy(value, depth + 1, { parent: path, key: name });
    }
    return object;
  };
  return copy(root, 0, undefined);
}

export function isRecord(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, in words. */
export function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'text';
  return `a ${typeof value}`;
}
