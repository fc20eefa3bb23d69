import { type ByteReader, readU64 } from '../../binary/reader.ts';
import { AttributeForm, formEncoding } from '../../debug-info/forms.ts';
import { peekFixed, putFixed, readFixed, readS64 } from '../../debug-info/numbers.ts';
import type { Unit } from '../../debug-info/units.ts';
import { type InstrumentError, invalidModule, unsupportedFeature } from '../../errors.ts';
import { outputOffset, outputStart } from '../offset-map.ts';
import type { AddressTable, MovedAddress } from './addresses.ts';
import { Role } from './attributes.ts';
import { type DebugSections, requireDebugSection } from './debug-sections.ts';
import { refersToCode, skipValue } from './entry-plans.ts';
import { requestList, type UnitBase } from './list-requests.ts';
import type { NumberList } from './number-list.ts';
import { addPlace, type References } from './references.ts';

/** A unit that is being rewritten. */
export interface OpenUnit {
  readonly unit: Unit;
  readonly base: UnitBase;
}

/** An entry that is being rewritten. */
export interface Entry {
  isStart: boolean;
  low: MovedAddress | undefined;
  /** Constants that count from the low address: their place, form and value. */
  distances: { readonly at: number; readonly form: number; readonly value: number; readonly length: number }[];
}

export interface EntryContext {
  readonly sections: DebugSections;
  readonly addresses: AddressTable;
  readonly references: References;
  readonly output: Uint8Array;
  readonly sectionStart: number;
}

export function splitUnit(at: number): InstrumentError {
  return unsupportedFeature('split DWARF', 'Found a unit whose entries are in another file', at);
}

export function moveAddress({ code, codeEnd }: DebugSections, input: number, isStart: boolean): MovedAddress {
  if (input > codeEnd) return { input, output: input };
  return { input, output: (isStart ? outputStart : outputOffset)(code, input) };
}

/** The form of a value, read from the value for an indirect one. */
export function resolveForm(reader: ByteReader, form: number): number {
  if (form !== AttributeForm.indirect) return form;
  const actual = readU64(reader, 'a form');
  if (actual === AttributeForm.indirect || actual === AttributeForm.implicitConst) {
    throw invalidModule(`Expected the form of a value, found 0x${actual.toString(16)}`, reader.offset);
  }
  return actual;
}

const indexSizes = new Map<number, number>([
  [AttributeForm.addrx1, 1],
  [AttributeForm.addrx2, 2],
  [AttributeForm.addrx3, 3],
  [AttributeForm.addrx4, 4],
]);

/** Reads the index of an address; throws for another form. */
export function readIndex(reader: ByteReader, form: number): number {
  if (form === AttributeForm.addrx) return readU64(reader, 'the index of an address');
  const size = indexSizes.get(form);
  if (size === undefined) throw unexpectedForm(form, reader.offset);
  return readFixed(reader, size, 'the index of an address');
}

function unexpectedForm(form: number, at: number): InstrumentError {
  const name = `0x${form.toString(16)}`;
  return unsupportedFeature('an unknown extension of DWARF', `Found an attribute of the unexpected form ${name}`, at);
}

/** Rewrites the value of an attribute and returns the offset after it. */
export function rewriteAttribute(
  context: EntryContext,
  open: OpenUnit,
  entry: Entry,
  role: number,
  ownForm: number,
  constant: number,
  start: number,
): number {
  const { sections, references, output, sectionStart } = context;
  const { bytes } = sections;
  const { unit, base } = open;
  const reader: ByteReader = { bytes, offset: start, end: unit.end };
  const form = resolveForm(reader, ownForm);
  const at = reader.offset;
  const encoding = formEncoding(form, unit, at);
  const end = skipValue(bytes, at, unit.end, encoding);
  if (end > unit.end) throw invalidModule('Expected an entry inside its unit, found a longer one', start);
  /** The offset in a section, which DWARF 2 and 3 store like a number. */
  const offsetInSection = (): number | undefined => {
    const isOffset = form === AttributeForm.secOffset || (unit.version < 4 && isFixedData(form));
    return isOffset ? peekFixed(bytes, at, encoding) : undefined;
  };

  switch (role) {
    case Role.lowPc:
    case Role.address:
    case Role.entryPc:
    case Role.highPc: {
      const isStart = entry.isStart && role !== Role.highPc;
      let moved: MovedAddress;
      if (form === AttributeForm.addr) {
        moved = moveAddress(sections, peekFixed(bytes, at, unit.addressSize), isStart);
        putFixed(output, at - sectionStart, unit.addressSize, moved.output);
      } else if (role === Role.lowPc || role === Role.address || form === AttributeForm.addrx || indexSizes.has(form)) {
        moved = context.addresses(base.addresses, readIndex(reader, form), isStart, at);
      } else {
        const value = readConstant(reader, form, constant);
        entry.distances.push({ at: at - sectionStart, form, value, length: end - at });
        return end;
      }
      if (role === Role.lowPc) entry.low = moved;
      return end;
    }
    case Role.ranges:
    case Role.location: {
      const isRanges = role === Role.ranges;
      const indexForm = isRanges ? AttributeForm.rnglistx : AttributeForm.loclistx;
      if (form === indexForm) {
        const name = isRanges ? '.debug_rnglists' : '.debug_loclists';
        const tableBase = isRanges ? base.ranges : base.locations;
        const offset = offsetOfList(sections, name, tableBase, readU64(reader, 'the index of a list'), unit, at);
        requestList(isRanges ? references.ranges : references.locations, offset, entry.isStart, at);
        return end;
      }
      const offset = offsetInSection();
      if (offset === undefined) {
        if (refersToCode(form)) throw unexpectedForm(form, at);
        return end; // an expression or a constant
      }
      if (unit.version < 5) {
        requestList(isRanges ? references.fixedRanges : references.fixedLocations, offset, entry.isStart, at);
      } else {
        requestList(isRanges ? references.ranges : references.locations, offset, entry.isStart, at);
        addPlace(isRanges ? references.rangePlaces : references.locationPlaces, at - sectionStart, encoding);
      }
      return end;
    }
    case Role.lineProgram:
    case Role.macros:
    case Role.rangesBase:
    case Role.locationsBase: {
      if (form !== AttributeForm.secOffset && !(unit.version < 4 && isFixedData(form))) throw unexpectedForm(form, at);
      addPlace(placesOf(references, role), at - sectionStart, encoding);
      return end;
    }
    case Role.split:
      throw splitUnit(unit.start);
    case Role.addressesBase:
    case Role.fixed:
      return end;
    default:
      if (refersToCode(form)) throw unexpectedForm(form, at);
      return end;
  }
}

function placesOf(references: References, role: number): NumberList {
  if (role === Role.lineProgram) return references.linePlaces;
  if (role === Role.macros) return references.macroPlaces;
  return role === Role.rangesBase ? references.rangePlaces : references.locationPlaces;
}

function isFixedData(form: number): boolean {
  return form === AttributeForm.data4 || form === AttributeForm.data8;
}

/** The offset of a list from its index, by the table of offsets that begins at the unit's base. */
function offsetOfList(
  sections: DebugSections,
  name: string,
  base: number,
  index: number,
  { offsetSize }: Unit,
  at: number,
): number {
  const reader = requireDebugSection(sections, name, at);
  const place = reader.offset + base + index * offsetSize;
  if (base < 0 || place + offsetSize > reader.end)
    throw invalidModule(`Expected the index of a list, found ${index}`, at);
  return base + peekFixed(reader.bytes, place, offsetSize);
}

const dataSizes = new Map<number, number>([
  [AttributeForm.data1, 1],
  [AttributeForm.data2, 2],
  [AttributeForm.data4, 4],
  [AttributeForm.data8, 8],
]);

function readConstant(reader: ByteReader, form: number, constant: number): number {
  if (form === AttributeForm.implicitConst) return constant;
  if (form === AttributeForm.udata) return readU64(reader, 'a number');
  if (form === AttributeForm.sdata) return readS64(reader, 'a number');
  const size = dataSizes.get(form);
  if (size === undefined) throw unexpectedForm(form, reader.offset);
  return readFixed(reader, size, 'a number');
}

/** Replaces a distance from the low address by the one in the output, in the bytes that it has. */
export function moveDistance(
  { sections, output, sectionStart }: EntryContext,
  low: MovedAddress | undefined,
  { at, form, value, length }: Entry['distances'][number],
): void {
  if (low === undefined) throw invalidModule('Expected a low address before a distance from it', sectionStart + at);
  if (value < 0 || low.input + value > sections.codeEnd) return;
  const moved = value === 0 ? 0 : outputOffset(sections.code, low.input + value) - low.output;
  if (moved === value) return;
  const size = dataSizes.get(form);
  const bits = size === undefined ? 7 * length - (form === AttributeForm.sdata ? 1 : 0) : 8 * size;
  if (moved < 0 || moved >= 2 ** bits) {
    throw unsupportedFeature(
      'a longer entry',
      `Found a distance of ${length} bytes that became ${moved}`,
      sectionStart + at,
    );
  }
  if (size !== undefined) {
    putFixed(output, at, size, moved);
    return;
  }
  let rest = moved;
  for (let index = 0; index < length; index++) {
    output[at + index] = (rest % 0x80) + (index < length - 1 ? 0x80 : 0);
    rest = Math.floor(rest / 0x80);
  }
}
