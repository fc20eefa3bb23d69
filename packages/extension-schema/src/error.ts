/** A place in a text, both counted from 1; columns in UTF-16 code units, as editors count them. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong with a schema. */
export interface SchemaFault {
  /** Where, as a JSON Pointer into the schema (RFC 6901): empty for the whole of it. */
  readonly pointer: string;
  /** What is wrong, without the place. */
  readonly detail: string;
  /** Where in the text, if it came as one. */
  readonly position: TextPosition | undefined;
}

/** How many faults are told of one schema: with more of them, mending the first ones comes first. */
export const maxSchemaFaults = 20;

/** Thrown for a text or an object that is no extension point's schema. `pointer`, `detail` and `position` are the first fault's. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  /** All that were found, {@link maxSchemaFaults} at the most: one at least, in the order of the text. */
  readonly faults: readonly SchemaFault[];
  readonly pointer: string;
  readonly detail: string;
  readonly position: TextPosition | undefined;

  constructor(first: SchemaFault, ...others: readonly SchemaFault[]) {
    super(describeFault(first) + (others.length === 0 ? '' : ` (and ${others.length} more)`));
    this.faults = [first, ...others];
    this.pointer = first.pointer;
    this.detail = first.detail;
    this.position = first.position;
  }
}

/** A fault in words, with its place in the text where there is one: `line 3, column 5: …`. */
export function describeFault({ detail, position }: SchemaFault): string {
  return position === undefined ? detail : `line ${position.line}, column ${position.column}: ${detail}`;
}
