import { SchemaError } from './error.ts';
import { keysOf, pointerTo, type SchemaPath } from './path.ts';
import type { SchemaText } from './text.ts';

/** The maximum nesting depth of a schema. */
const maxDepth = 64;

/** The maximum number of entries in a schema. YAML aliases count once per use. */
const maxEntries = 20_000;

/** A map without a prototype. */
export type Plain = { [name: string]: unknown };

/**
 * Copies a value. Objects in the copy have no prototype, so that names such as `__proto__` have no effect.
 *
 * @throws SchemaError for values that JSON can't represent, and for too deep or too large ones
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
    if (typeof value === 'number' && !Number.isFinite(value))
      throw refuse(`${value} can't be represented in JSON`, path);
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
    throw refuse(`a ${typeof value} can't be represented in JSON`, path);
  };
  const copyEntries = (pairs: Iterable<[unknown, unknown]>, depth: number, path: SchemaPath | undefined): Plain => {
    const object: Plain = Object.create(null);
    for (const [key, value] of pairs) {
      if (typeof key === 'object' && key !== null) throw refuse('has a key that is not a string', path);
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

/** Names the type of a value for error messages. */
export function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'text';
  return `a ${typeof value}`;
}
