import { parseExtensionPointSchema, SchemaError } from '@tenon/protocol/extension-point-schema';
import { isNode, parseDocument, stringify } from 'yaml';

/** What is wrong with a schema's text, and where. */
export interface SchemaFault {
  /** In words that stand alone: "map keys must be unique". */
  readonly detail: string;
  /** Offsets into the text, in UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

export type CheckedSchema = { readonly schema: unknown; readonly fault?: never } | { readonly fault: SchemaFault };

/** Checks a schema's YAML or JSON text as the server does, with the same code. */
export function checkSchema(text: string): CheckedSchema {
  try {
    return { schema: JSON.parse(parseExtensionPointSchema(text)) };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const from = error.position === undefined ? placeOf(text, error.pointer) : offsetOf(text, error.position);
    return { fault: { detail: error.detail, from, to: endOfWord(text, from), ...positionOf(text, from) } };
  }
}

/** A schema as text to edit: YAML, which is what people write by hand. */
export function schemaText(schema: unknown): string {
  return stringify(schema, { lineWidth: 0, aliasDuplicateObjects: false });
}

function offsetOf(text: string, { line, column }: { readonly line: number; readonly column: number }): number {
  let start = 0;
  for (let at = 1; at < line; at++) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    start = end + 1;
  }
  return Math.min(text.length, start + column - 1);
}

function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Where in the text stands what a JSON Pointer names; its beginning where that can't be told. */
function placeOf(text: string, pointer: string): number {
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const node = path.length === 0 ? undefined : parseDocument(text, { uniqueKeys: false }).getIn(path, true);
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

function endOfWord(text: string, from: number): number {
  const length = text.slice(from).search(/[\s:,]|$/);
  return Math.min(text.length, from + Math.max(1, length));
}
