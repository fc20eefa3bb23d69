import type { FoundFault } from './check.ts';
import { SchemaError, type SchemaFault } from './error.ts';
import { keysOf, pointerTo } from './path.ts';
import { checkSchema } from './rules.ts';
import { readSchemaText } from './text.ts';
import { isRecord, kindOf, type Plain, plainCopy } from './value.ts';

export { describeFault, maxSchemaFaults, SchemaError, type SchemaFault, type TextPosition } from './error.ts';

/** A valid schema. */
export interface ParsedSchema {
  /** The schema as JSON. */
  readonly json: string;
  /** Up to {@link maxSchemaFaults} parts that are ignored or read in another way, in the order of the text. */
  readonly warnings: readonly SchemaFault[];
}

/**
 * Parses and checks an extension point's schema: an object, or its YAML (1.2) or JSON text. See
 * docs/reference/extension-point-schema.md. `exports` and `imports` may be lists of names, or of objects with a `name`; the result has maps
 * keyed by name. The result always has `exports`. What other tools accept in another form is rewritten, with a warning. Everything else
 * stays unchanged, unknown keys included.
 *
 * A schema without `version` is `v0` if its exports are a list of names, otherwise `v1-draft`.
 *
 * @throws SchemaError with up to {@link maxSchemaFaults} faults, with line and column if the schema is a text
 */
export function readExtensionPointSchema(schema: unknown): ParsedSchema {
  const text = typeof schema === 'string' ? readSchemaText(schema) : undefined;
  const value = plainCopy(text === undefined ? schema : text.value, text?.locate);
  if (!isRecord(value)) {
    throw new SchemaError({ pointer: '', detail: `expected an object, found ${kindOf(value)}`, position: undefined });
  }
  const placed = ({ path, part, detail }: FoundFault): SchemaFault => {
    const keys = keysOf(path);
    return { pointer: pointerTo(keys), detail, position: text?.locate(keys, part) };
  };
  const { faults, warnings } = checkSchema(value);
  const [first, ...others] = faults.map(placed).sort(inOrderOfText);
  if (first !== undefined) throw new SchemaError(first, ...others);
  value.exports = functionMap(value.exports);
  if (value.imports !== undefined) value.imports = functionMap(value.imports);
  if (value.components === null) delete value.components;
  return { json: JSON.stringify(value), warnings: warnings.map(placed).sort(inOrderOfText) };
}

/** Like {@link readExtensionPointSchema}, without the warnings. */
export function parseExtensionPointSchema(schema: unknown): string {
  return readExtensionPointSchema(schema).json;
}

function inOrderOfText({ position: a }: SchemaFault, { position: b }: SchemaFault): number {
  return a === undefined || b === undefined ? 0 : a.line - b.line || a.column - b.column;
}

/** Converts the exports or imports of a valid schema to a map. */
function functionMap(functions: unknown): Plain {
  const map: Plain = Object.create(null);
  const entries = Array.isArray(functions) ? functions.map(named) : Object.entries(functions ?? {});
  for (const [name, entry] of entries) map[name] = entry ?? {};
  return map;
}

function named(item: unknown): [name: string, entry: unknown] {
  const { name, ...entry } = isRecord(item) ? item : { name: item };
  return [String(name), entry];
}
