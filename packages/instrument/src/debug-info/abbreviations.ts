import { type ByteReader, readByte, readU32 } from '../binary/reader.ts';
import { invalidModule } from '../errors.ts';
import { AttributeForm } from './forms.ts';
import { readS64 } from './numbers.ts';

export interface AttributeSpec {
  readonly name: number;
  readonly form: number;
  /** The value itself, for the form `implicitConst`. */
  readonly constant: number;
}

/** The shape of a debugging information entry: its tag, and the names and forms of its attributes. */
export interface Abbreviation {
  readonly tag: number;
  readonly hasChildren: boolean;
  readonly attributes: readonly AttributeSpec[];
}

/** Reads the table of abbreviations at the reader's offset, by code. */
export function readAbbreviations(reader: ByteReader): Map<number, Abbreviation> {
  const table = new Map<number, Abbreviation>();
  for (;;) {
    const offset = reader.offset;
    const code = readU32(reader, "an abbreviation's code");
    if (code === 0) return table;
    if (table.has(code)) throw invalidModule(`Expected each abbreviation once, found ${code} twice`, offset);
    const tag = readU32(reader, 'a tag');
    const hasChildren = readByte(reader, 'whether there are children') !== 0;
    const attributes: AttributeSpec[] = [];
    for (;;) {
      const name = readU32(reader, "an attribute's name");
      const form = readU32(reader, "an attribute's form");
      if (name === 0 && form === 0) break;
      const constant = form === AttributeForm.implicitConst ? readS64(reader, 'a constant') : 0;
      attributes.push({ name, form, constant });
    }
    table.set(code, { tag, hasChildren, attributes });
  }
}
