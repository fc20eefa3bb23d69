import { type ByteReader, readByte, skipBytes } from '../binary/reader.ts';
import { invalidModule } from '../errors.ts';
import type { Abbreviation } from './abbreviations.ts';
import { AttributeForm, Encoding, formEncoding, type UnitFormat } from './forms.ts';
import { readFixed, readS64 } from './numbers.ts';

const what = 'debug information';

/** Reads an unsigned LEB128, rounded to a double. Linkers pad them to any length. */
export function readUleb(reader: ByteReader): number {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = readByte(reader, what);
    if (factor < 2 ** 70) value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value;
  }
}

/** Reads a signed LEB128. */
export function readSleb(reader: ByteReader): number {
  return readS64(reader, what);
}

/** Skips a text that ends with a zero byte, and returns its offset. */
export function skipText(reader: ByteReader): number {
  const start = reader.offset;
  while (readByte(reader, what) !== 0);
  return start;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Longer texts are cut: many entries may have the same long name. */
const maxTextBytes = 16_384;

/** The text from the reader's offset to a zero byte. */
export function peekText({ bytes, offset, end }: ByteReader): string {
  const text = bytes.subarray(offset, Math.min(end, offset + maxTextBytes));
  const zero = text.indexOf(0);
  return decoder.decode(zero === -1 ? text : text.subarray(0, zero));
}

/** The form of the next value: `DW_FORM_indirect` precedes the value by its form. */
export function resolveForm(reader: ByteReader, form: number): number {
  if (form !== AttributeForm.indirect) return form;
  const start = reader.offset;
  const resolved = readUleb(reader);
  if (resolved === AttributeForm.indirect) throw invalidModule('Expected a form, found one more indirection', start);
  return resolved;
}

/** Reads a value: a number, or the offset in the module of a text or of a block's contents. */
export function readForm(reader: ByteReader, form: number, unit: UnitFormat, constant = 0): number {
  if (form === AttributeForm.implicitConst) return constant;
  if (form === AttributeForm.flagPresent) return 1;
  if (form === AttributeForm.sdata) return readSleb(reader);
  const encoding = formEncoding(form, unit, reader.offset);
  if (encoding >= 0 && encoding <= 8) return readFixed(reader, encoding, what);
  if (encoding === Encoding.leb) return readUleb(reader);
  if (encoding === Encoding.text) return skipText(reader);
  const length = encoding >= 0 ? encoding : readBlockLength(reader, encoding);
  const start = reader.offset;
  skipBytes(reader, length, what);
  return start;
}

/** Skips a value. */
export function skipForm(reader: ByteReader, form: number, unit: UnitFormat): void {
  const encoding = formEncoding(form, unit, reader.offset);
  if (encoding >= 0) skipBytes(reader, encoding, what);
  else if (encoding === Encoding.leb) while (readByte(reader, what) >= 0x80);
  else if (encoding === Encoding.text) skipText(reader);
  else if (encoding === Encoding.indirect) skipForm(reader, resolveForm(reader, form), unit);
  else skipBytes(reader, readBlockLength(reader, encoding), what);
}

function readBlockLength(reader: ByteReader, encoding: number): number {
  if (encoding === Encoding.block1) return readFixed(reader, 1, what);
  if (encoding === Encoding.block2) return readFixed(reader, 2, what);
  return encoding === Encoding.block4 ? readFixed(reader, 4, what) : readUleb(reader);
}

/** The value of an attribute, and its form. */
export interface AttributeValue {
  readonly form: number;
  readonly value: number;
}

/** Reads the attributes of an entry, of which `isWanted` selects some by name, and skips the others. */
export function readAttributes(
  reader: ByteReader,
  { attributes }: Abbreviation,
  unit: UnitFormat,
  isWanted: (name: number) => boolean,
): ReadonlyMap<number, AttributeValue> {
  const values = new Map<number, AttributeValue>();
  for (const { name, form: declared, constant } of attributes) {
    if (isWanted(name)) {
      const form = resolveForm(reader, declared);
      values.set(name, { form, value: readForm(reader, form, unit, constant) });
    } else skipForm(reader, declared, unit);
  }
  return values;
}
