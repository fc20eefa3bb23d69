/** A position in a text. Lines and columns start at 1; columns count UTF-16 code units, like editors. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** One fault in a schema. */
export interface SchemaFault {
  /** A JSON Pointer into the schema (RFC 6901); empty for the whole schema. */
  readonly pointer: string;
  /** The fault, without its location. */
  readonly detail: string;
  /** The position in the text, if the schema was a text. */
  readonly position: TextPosition | undefined;
}

/** The maximum number of faults that are reported for one schema. */
export const maxSchemaFaults = 20;

/** Thrown for an invalid schema of an extension point. `pointer`, `detail` and `position` are those of the first fault. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  /** One to {@link maxSchemaFaults} faults, in the order of the text. */
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

/** Formats a fault with its position, if it has one: `line 3, column 5: …`. */
export function describeFault({ detail, position }: SchemaFault): string {
  return position === undefined ? detail : `line ${position.line}, column ${position.column}: ${detail}`;
}
