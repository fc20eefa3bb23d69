import { isMap, LineCounter, parseDocument } from 'yaml';
import { DomainError, invalidField } from './errors.ts';

/** How deep a schema may be nested; deeper ones serve nobody and cost every reader. */
const maxDepth = 64;

/** How many entries a schema may have in all, aliases counted as often as they are used. */
const maxEntries = 20_000;

/**
 * Reads an extension point's schema: an object, or its YAML (1.2) or JSON text. Its `exports`, a list of names or of objects
 * with a `name`, or a map, becomes a map keyed by export name; there is always one. Everything else is kept as it is.
 *
 * @returns the schema as JSON text
 * @throws DomainError `invalid_field`, with line and column where a text is at fault
 */
export function parseExtensionPointSchema(schema: unknown): string {
  const value = plain(typeof schema === 'string' ? parseText(schema) : schema);
  if (!isRecord(value)) throw invalidField('/schema', `expected an object, found ${nameOf(value)}`);
  value.exports = exportsMap(value.exports);
  return JSON.stringify(value);
}

function parseText(text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, schema: 'core' });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.pos[0]);
    throw invalidField('/schema', `line ${line}, column ${col}: ${fault.message}`);
  }
  if (!isMap(document.contents)) throw invalidField('/schema', 'expected a YAML or JSON mapping at the top');
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: 100 });
  } catch (cause) {
    throw new DomainError('invalid_field', '/schema: the text repeats itself through too many aliases', {
      cause,
      errors: [{ pointer: '/schema', detail: 'the text repeats itself through too many aliases' }],
    });
  }
}

type Plain = { [name: string]: unknown };

/** A copy made of objects without prototypes, lists and JSON's own values, so that names such as `__proto__` are only names. */
function plain(root: unknown): unknown {
  let entries = 0;
  const copy = (value: unknown, depth: number): unknown => {
    if (depth > maxDepth) throw invalidField('/schema', `is nested more than ${maxDepth} deep`);
    if (++entries > maxEntries) throw invalidField('/schema', `has more than ${maxEntries} entries`);
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    if (value instanceof Map) return copyEntries(value.entries(), depth);
    if (typeof value === 'object' && value !== null) return copyEntries(Object.entries(value), depth);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw invalidField('/schema', `${value} has no form in JSON`);
    }
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
    throw invalidField('/schema', `a ${typeof value} has no form in JSON`);
  };
  const copyEntries = (pairs: Iterable<[unknown, unknown]>, depth: number): Plain => {
    const object: Plain = Object.create(null);
    for (const [key, value] of pairs) {
      if (typeof key === 'object' && key !== null) throw invalidField('/schema', 'has a key that is no text');
      object[String(key)] = copy(value, depth + 1);
    }
    return object;
  };
  return copy(root, 0);
}

function exportsMap(exports: unknown): Plain {
  const map: Plain = Object.create(null);
  if (exports === undefined || exports === null) return map;
  if (isRecord(exports)) return exports;
  if (!Array.isArray(exports)) {
    throw invalidField('/schema/exports', `expected a map or a list, found ${nameOf(exports)}`);
  }
  for (const [position, item] of exports.entries()) {
    const { name, ...rest } = isRecord(item) ? item : { name: item };
    const pointer = `/schema/exports/${position}`;
    if (typeof name !== 'string') throw invalidField(pointer, 'expected an export name or an object with a "name"');
    if (Object.hasOwn(map, name)) throw invalidField(pointer, `the export "${name}" is listed twice`);
    map[name] = rest;
  }
  return map;
}

function isRecord(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
