import { readByte } from '../binary/reader.ts';
import { invalidModule } from '../errors.ts';
import { Attribute, RangeEntry } from './constants.ts';
import type { DwarfSections } from './dwarf-sections.ts';
import { AttributeForm } from './forms.ts';
import { readFixed } from './numbers.ts';
import type { Unit } from './units.ts';
import { type AttributeValue, readUleb } from './values.ts';

export type Attributes = ReadonlyMap<number, AttributeValue>;

/** Code offsets from `start` up to `end`. */
export interface CodeRange {
  readonly start: number;
  readonly end: number;
}

/** What the values of a unit depend on: its header, and bases from its first entry. */
export interface UnitContext {
  readonly unit: Unit;
  readonly sections: DwarfSections;
  readonly bases: Attributes;
  /** The base of its range lists. */
  readonly lowPc: number;
}

const indexedAddresses: ReadonlySet<number> = new Set([
  AttributeForm.addrx,
  AttributeForm.addrx1,
  AttributeForm.addrx2,
  AttributeForm.addrx3,
  AttributeForm.addrx4,
]);
const indexedTexts: ReadonlySet<number> = new Set([
  AttributeForm.strx,
  AttributeForm.strx1,
  AttributeForm.strx2,
  AttributeForm.strx3,
  AttributeForm.strx4,
]);
const unitReferences: ReadonlySet<number> = new Set([
  AttributeForm.ref1,
  AttributeForm.ref2,
  AttributeForm.ref4,
  AttributeForm.ref8,
  AttributeForm.refUdata,
]);

/** The text of an attribute; undefined for other forms. */
export function textOf(context: UnitContext, attribute: AttributeValue | undefined): string | undefined {
  if (attribute === undefined) return undefined;
  const { form, value } = attribute;
  const { sections, unit, bases } = context;
  if (form === AttributeForm.string) return sections.textIn(value);
  if (form === AttributeForm.strp) return sections.textAt('.debug_str', value);
  if (form === AttributeForm.lineStrp) return sections.textAt('.debug_line_str', value);
  if (!indexedTexts.has(form)) return undefined;
  const base = bases.get(Attribute.textOffsetsBase)?.value ?? 2 * unit.offsetSize;
  const offset = sections.numberAt('.debug_str_offsets', base + value * unit.offsetSize, unit.offsetSize);
  return sections.textAt('.debug_str', offset);
}

/** The address of an attribute; undefined for other forms. */
export function addressOf(context: UnitContext, attribute: AttributeValue | undefined): number | undefined {
  if (attribute?.form === AttributeForm.addr) return attribute.value;
  return attribute !== undefined && indexedAddresses.has(attribute.form)
    ? addressAt(context, attribute.value)
    : undefined;
}

function addressAt({ sections, unit, bases }: UnitContext, index: number): number {
  const base = bases.get(Attribute.addressBase)?.value ?? 8;
  return sections.numberAt('.debug_addr', base + index * unit.addressSize, unit.addressSize);
}

/** The offset in the module of the entry that an attribute refers to. */
export function referenceOf({ unit, sections }: UnitContext, attribute: AttributeValue): number | undefined {
  if (attribute.form === AttributeForm.refAddr) return sections.readerAt('.debug_info', attribute.value).offset;
  return unitReferences.has(attribute.form) ? unit.start + attribute.value : undefined;
}

/** The code of an entry. Ranges of functions that the linker dropped are left out. */
export function rangesOf(context: UnitContext, attributes: Attributes): CodeRange[] {
  const ranges = attributes.get(Attribute.ranges);
  if (ranges !== undefined) return readRanges(context, ranges).filter(isCode);
  const start = addressOf(context, attributes.get(Attribute.lowPc));
  const high = attributes.get(Attribute.highPc);
  if (start === undefined || high === undefined) return [];
  return [{ start, end: addressOf(context, high) ?? start + high.value }].filter(isCode);
}

/** Linkers set the addresses of what they drop to 0, where the number of functions is, or to the largest ones. */
function isCode({ start, end }: CodeRange): boolean {
  return start > 0 && start < end && end < 0xffff_fff0;
}

function readRanges(context: UnitContext, { form, value }: AttributeValue): CodeRange[] {
  const { unit, sections, bases } = context;
  if (unit.version < 5) return readOlderRanges(context, value);
  if (form !== AttributeForm.rnglistx) return readRangeList(context, value);
  const base = bases.get(Attribute.rangeListsBase)?.value ?? 8 + unit.offsetSize;
  const offset = sections.numberAt('.debug_rnglists', base + value * unit.offsetSize, unit.offsetSize);
  return readRangeList(context, base + offset);
}

/** A range takes more memory than other parts. */
const rangeSteps = 16;

/** A list in `.debug_ranges`: pairs of offsets from a base, up to a pair of zeros. */
function readOlderRanges({ unit, sections, lowPc }: UnitContext, offset: number): CodeRange[] {
  const { addressSize } = unit;
  const reader = sections.readerAt('.debug_ranges', offset);
  const largest = addressSize === 4 ? 0xffff_ffff : 2 ** 64;
  const ranges: CodeRange[] = [];
  let base = lowPc;
  for (;;) {
    sections.spend(rangeSteps);
    const start = readFixed(reader, addressSize, 'a range');
    const end = readFixed(reader, addressSize, 'a range');
    if (start === 0 && end === 0) return ranges;
    if (start === largest) base = end;
    else ranges.push({ start: base + start, end: base + end });
  }
}

/** A list in `.debug_rnglists`. */
function readRangeList(context: UnitContext, offset: number): CodeRange[] {
  const { addressSize } = context.unit;
  const reader = context.sections.readerAt('.debug_rnglists', offset);
  const address = () => readFixed(reader, addressSize, 'an address');
  const indexed = () => addressAt(context, readUleb(reader));
  const ranges: CodeRange[] = [];
  const add = (start: number, end: number) => void ranges.push({ start, end });
  const addLength = (start: number) => add(start, start + readUleb(reader));
  let base = context.lowPc;
  for (;;) {
    context.sections.spend(rangeSteps);
    const kind = readByte(reader, 'the kind of a range');
    if (kind === RangeEntry.end) return ranges;
    if (kind === RangeEntry.baseIndex) base = indexed();
    else if (kind === RangeEntry.startIndexEndIndex) add(indexed(), indexed());
    else if (kind === RangeEntry.startIndexLength) addLength(indexed());
    else if (kind === RangeEntry.offsetPair) add(base + readUleb(reader), base + readUleb(reader));
    else if (kind === RangeEntry.base) base = address();
    else if (kind === RangeEntry.startEnd) add(address(), address());
    else if (kind === RangeEntry.startLength) addLength(address());
    else throw invalidModule(`Expected the kind of a range, found ${kind}`, reader.offset - 1);
  }
}
