import { type Document, isMap, isScalar, Lexer, LineCounter, parseDocument, visit, type YAMLError } from 'yaml';

/** How deep a schema may be nested; deeper ones serve nobody and cost every reader. */
const maxDepth = 64;

/** How many entries a schema may have in all, aliases counted as often as they are used. */
const maxEntries = 20_000;

/** How many tokens a YAML text may have: about eight make an entry, and all of them are read while other requests wait. */
const maxTokens = 60_000;

/** Thrown for a text or an object that is no extension point's schema. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  /** Where, as a JSON Pointer into the schema (RFC 6901): empty for the whole of it. */
  readonly pointer: string;
  /** What was wrong, without the place. */
  readonly detail: string;
  /** Where in the text, both from 1; `undefined` when it is no matter of the text. */
  readonly position: { readonly line: number; readonly column: number } | undefined;

  constructor(pointer: string, detail: string, position?: { readonly line: number; readonly column: number }) {
    super(position === undefined ? detail : `line ${position.line}, column ${position.column}: ${detail}`);
    this.pointer = pointer;
    this.detail = detail;
    this.position = position;
  }
}

/**
 * Reads an extension point's schema: an object, or its YAML (1.2) or JSON text. Its `exports`, a list of names or of objects
 * with a `name`, or a map, becomes a map keyed by export name; there is always one. Everything else is kept as it is.
 *
 * @returns the schema as JSON text
 * @throws SchemaError with line and column where a text is at fault
 */
export function parseExtensionPointSchema(schema: unknown): string {
  const value = plain(typeof schema === 'string' ? parseText(schema) : schema);
  if (!isRecord(value)) throw new SchemaError('', `expected an object, found ${nameOf(value)}`);
  value.exports = exportsMap(value.exports);
  return JSON.stringify(value);
}

function parseText(text: string): unknown {
  demandFewTokens(text);
  const lines = new LineCounter();
  // The parser's own check of keys compares each with all others: a second for 10,000 of them.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, schema: 'core' });
  const fault = document.errors[0];
  const place = fault === undefined ? repeatedKey(document) : fault.pos[0];
  if (place !== undefined) {
    const { line, col } = lines.linePos(place);
    throw new SchemaError('', wordsFor(fault), { line, column: col });
  }
  if (!isMap(document.contents)) throw new SchemaError('', 'expected a YAML or JSON mapping at the top');
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: 100 });
  } catch {
    throw new SchemaError('', 'the text repeats itself through too many aliases');
  }
}

function wordsFor(fault: YAMLError | undefined): string {
  if (fault === undefined) return 'map keys must be unique';
  return fault.code === 'RESOURCE_EXHAUSTION' ? `nested more than ${maxDepth} deep` : fault.message;
}

function demandFewTokens(text: string): void {
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new SchemaError('', `the text has more than ${maxTokens} tokens`);
  }
}

/** Where a key stands that its map has already; as text, since that is what keys become. */
function repeatedKey(document: Document.Parsed): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_, map) {
      const known = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (known.has(name)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        known.add(name);
      }
      return undefined;
    },
  });
  return found;
}

type Plain = { [name: string]: unknown };

/** A copy made of objects without prototypes, lists and JSON's own values, so that names such as `__proto__` are only names. */
function plain(root: unknown): unknown {
  let entries = 0;
  const copy = (value: unknown, depth: number): unknown => {
    if (depth > maxDepth) throw new SchemaError('', `is nested more than ${maxDepth} deep`);
    if (++entries > maxEntries) throw new SchemaError('', `has more than ${maxEntries} entries`);
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    if (value instanceof Map) return copyEntries(value.entries(), depth);
    if (typeof value === 'object' && value !== null) return copyEntries(Object.entries(value), depth);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new SchemaError('', `${value} has no form in JSON`);
    }
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
    throw new SchemaError('', `a ${typeof value} has no form in JSON`);
  };
  const copyEntries = (pairs: Iterable<[unknown, unknown]>, depth: number): Plain => {
    const object: Plain = Object.create(null);
    for (const [key, value] of pairs) {
      if (typeof key === 'object' && key !== null) throw new SchemaError('', 'has a key that is no text');
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
    throw new SchemaError('/exports', `expected a map or a list, found ${nameOf(exports)}`);
  }
  for (const [position, item] of exports.entries()) {
    const { name, ...rest } = isRecord(item) ? item : { name: item };
    const pointer = `/exports/${position}`;
    if (typeof name !== 'string') throw new SchemaError(pointer, 'expected an export name or an object with a "name"');
    if (Object.hasOwn(map, name)) throw new SchemaError(pointer, `the export "${name}" is listed twice`);
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
