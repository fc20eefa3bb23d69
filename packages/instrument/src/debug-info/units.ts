import type { ByteReader } from '../binary/reader.ts';
import { readByte, skipBytes } from '../binary/reader.ts';
import { invalidModule, unsupportedFeature } from '../errors.ts';
import type { UnitFormat } from './forms.ts';
import { readFixed } from './numbers.ts';

/** Kinds of units. https://dwarfstd.org/doc/DWARF5.pdf, section 7.5.1 */
export const UnitType = { compile: 1, type: 2, partial: 3, skeleton: 4, splitCompile: 5, splitType: 6 } as const;

/** The header of a unit in `.debug_info` or `.debug_types`. Offsets count from the start of the module. */
export interface Unit extends UnitFormat {
  readonly start: number;
  readonly end: number;
  readonly type: number;
  /** The offset of its table in `.debug_abbrev`, from the start of the section. */
  readonly abbreviationsOffset: number;
  /** The first debugging information entry. */
  readonly entriesStart: number;
}

/** The length that a unit, a table or a set begins with. */
export interface UnitLength {
  readonly offsetSize: number;
  readonly end: number;
}

/** Reads an initial length of 4 bytes, or of 12 in the 64-bit format. */
export function readUnitLength(reader: ByteReader): UnitLength {
  const offset = reader.offset;
  let length = readFixed(reader, 4, 'the length of a unit');
  let offsetSize = 4;
  if (length === 0xffff_ffff) {
    length = readFixed(reader, 8, 'the length of a unit');
    offsetSize = 8;
  }
  if (length > reader.end - reader.offset) {
    throw invalidModule(`Expected a unit of at most ${reader.end - reader.offset} bytes, found ${length}`, offset);
  }
  return { offsetSize, end: reader.offset + length };
}

/** Reads the header of a unit, and moves the reader to the unit's end. `isTypes` is whether the section is `.debug_types`. */
export function readUnit(reader: ByteReader, isTypes: boolean): Unit {
  const start = reader.offset;
  const { offsetSize, end } = readUnitLength(reader);
  const header: ByteReader = { bytes: reader.bytes, offset: reader.offset, end };
  const versionAt = header.offset;
  const version = readFixed(header, 2, 'the version of a unit');
  if (version < 2 || version > 5) {
    throw unsupportedFeature(`DWARF ${version}`, `Found a unit of version ${version}`, versionAt);
  }
  const typeOfV5 = version === 5 ? readByte(header, 'the type of a unit') : UnitType.compile;
  const type = isTypes ? UnitType.type : typeOfV5;
  const sizeOfV5 = version === 5 ? readByte(header, 'the size of an address') : 0;
  const abbreviationsOffset = readFixed(header, offsetSize, 'the offset of the abbreviations');
  const addressSize = version === 5 ? sizeOfV5 : readByte(header, 'the size of an address');
  if (addressSize !== 4 && addressSize !== 8) {
    throw unsupportedFeature(`addresses of ${addressSize} bytes`, 'Found a unit', versionAt);
  }
  if (type === UnitType.type || type === UnitType.splitType) skipBytes(header, 8 + offsetSize, 'a type signature');
  if (type === UnitType.skeleton || type === UnitType.splitCompile) skipBytes(header, 8, 'the id of a split unit');
  reader.offset = end;
  return { start, end, version, type, addressSize, offsetSize, abbreviationsOffset, entriesStart: header.offset };
}
