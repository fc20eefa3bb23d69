import { readExtensionPointSchema, SchemaError, type SchemaFault } from '@tenon/extension-schema';
import { stringify } from 'yaml';

/** A fault of a schema's text, or a warning about it, and where it is. */
export interface TextFault {
  /** Warnings don't make the text invalid. */
  readonly severity?: 'warning';
  /** In words, without the place: `there is no field "nam"; did you mean "name"?` */
  readonly detail: string;
  /** Offsets into the text, in UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

/** A schema as the API answers it, or what is wrong with its text: one fault at least, in the order of the text. */
export type CheckedSchema =
  | { readonly isSound: true; readonly schema: unknown; readonly warnings: readonly TextFault[] }
  | { readonly isSound: false; readonly faults: readonly TextFault[] };

/** Checks a schema's YAML or JSON text as the server does, with the same code. */
export function checkSchema(text: string): CheckedSchema {
  try {
    const { json, warnings } = readExtensionPointSchema(text);
    const placed = placedIn(text, warnings).map((warning) => ({ ...warning, severity: 'warning' as const }));
    return { isSound: true, schema: JSON.parse(json), warnings: placed };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return { isSound: false, faults: placedIn(text, error.faults) };
  }
}

function placedIn(text: string, faults: readonly SchemaFault[]): TextFault[] {
  const lines = lineStarts(text);
  return faults.map(({ detail, position = { line: 1, column: 1 } }) => {
    const from = Math.min(text.length, (lines[position.line - 1] ?? text.length) + position.column - 1);
    return { detail, from, to: endOfWord(text, from), ...position };
  });
}

/** A schema as text to edit: YAML, which is what people write by hand. */
export function schemaText(schema: unknown): string {
  return stringify(schema, { lineWidth: 0, aliasDuplicateObjects: false });
}

function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

/** What is underlined: the word that begins there, one character at least where there is one. */
function endOfWord(text: string, from: number): number {
  const length = text.slice(from).search(/[\s:,]|$/);
  return Math.min(text.length, from + Math.max(1, length));
}
