import { type ByteReader, readerOver } from '../binary/reader.ts';
import type { Abbreviation } from './abbreviations.ts';
import { Attribute, Tag } from './constants.ts';
import type { DwarfSections } from './dwarf-sections.ts';
import { type LineTable, readLineTable } from './line-table.ts';
import { orUndefined } from './or-undefined.ts';
import { type Attributes, addressOf, type CodeRange, rangesOf, textOf, type UnitContext } from './unit-values.ts';
import type { Unit } from './units.ts';
import { readAttributes, readUleb, skipForm } from './values.ts';

/** A function with code, or a call that the compiler replaced by the function's code. */
export interface FunctionEntry {
  /** The offset of its entry in the module. */
  readonly offset: number;
  /** The function that an inlined call is in. */
  readonly parent: FunctionEntry | undefined;
  readonly ranges: readonly CodeRange[];
  /** The place of an inlined call. */
  readonly call: { readonly file: number; readonly line: number; readonly column: number } | undefined;
}

/** A compilation unit. Its parts are read when first needed. */
export interface CompileUnit extends UnitContext {
  /** The code according to its first entry, else to its functions. */
  readonly ranges: () => readonly CodeRange[];
  readonly lines: () => LineTable | undefined;
  /** Parents come before the calls in them. */
  readonly functions: () => readonly FunctionEntry[];
  /** Some attributes of the entry at an offset in the module. */
  readonly attributesAt: (offset: number) => Attributes | undefined;
}

/** Reads the first entry of a unit. Returns undefined for units without code. */
export function readCompileUnit(
  sections: DwarfSections,
  unit: Unit,
  reader: ByteReader,
  abbreviations: () => ReadonlyMap<number, Abbreviation>,
  lineTables: Map<number, LineTable | undefined>,
): CompileUnit | undefined {
  const attributesAt = (offset: number) =>
    orUndefined(() => {
      const entry = readerOver(reader.bytes, offset, unit.end);
      const abbreviation = abbreviations().get(readUleb(entry));
      sections.spend(1 + (abbreviation?.attributes.length ?? 0) / 16);
      return abbreviation && readAttributes(entry, abbreviation, unit, isWanted);
    });
  const bases = attributesAt(unit.entriesStart);
  if (bases === undefined) return undefined;
  const withoutBase: UnitContext = { unit, sections, bases, lowPc: 0 };
  const lowPc = orUndefined(() => addressOf(withoutBase, bases.get(Attribute.lowPc))) ?? 0;
  const context: UnitContext = { ...withoutBase, lowPc };
  const functions = once(() => readFunctions(context, reader.bytes, abbreviations));
  return {
    ...context,
    attributesAt,
    functions,
    ranges: once(() => {
      const own = orUndefined(() => rangesOf(context, bases)) ?? [];
      return own.length > 0 ? own : functions().flatMap(({ ranges, parent }) => (parent === undefined ? ranges : []));
    }),
    lines: once(() => {
      const offset = bases.get(Attribute.lineTable)?.value;
      if (offset === undefined) return undefined;
      if (!lineTables.has(offset)) {
        const folder = orUndefined(() => textOf(context, bases.get(Attribute.folder))) ?? '';
        lineTables.set(offset, readLineTable(sections, offset, { folder, addressSize: unit.addressSize }));
      }
      return lineTables.get(offset);
    }),
  };
}

const wantedNames: ReadonlySet<number> = new Set(Object.values(Attribute));

function isWanted(name: number): boolean {
  return wantedNames.has(name);
}

function readFunctions(
  context: UnitContext,
  bytes: Uint8Array,
  abbreviations: () => ReadonlyMap<number, Abbreviation>,
): FunctionEntry[] {
  const { unit } = context;
  const entries: FunctionEntry[] = [];
  orUndefined(() => {
    const shapes = abbreviations();
    const reader = readerOver(bytes, unit.entriesStart, unit.end);
    /** For each open entry with children, the function that they are in. */
    const open: (FunctionEntry | undefined)[] = [];
    while (reader.offset < reader.end) {
      const offset = reader.offset;
      const code = readUleb(reader);
      if (code === 0) {
        open.pop();
        if (open.length === 0) return;
        continue;
      }
      const shape = shapes.get(code);
      if (shape === undefined) return;
      context.sections.spend(1 + shape.attributes.length / 4);
      const parent = open.at(-1);
      let entry = parent;
      if (shape.tag === Tag.subprogram || shape.tag === Tag.inlinedSubroutine) {
        const isInlined = shape.tag === Tag.inlinedSubroutine;
        const attributes = readAttributes(reader, shape, unit, isWanted);
        const ranges = orUndefined(() => rangesOf(context, attributes)) ?? [];
        const number = (name: number) => attributes.get(name)?.value ?? 0;
        entry = {
          offset,
          parent: isInlined ? parent : undefined,
          ranges,
          call: isInlined
            ? {
                file: number(Attribute.callFile),
                line: number(Attribute.callLine),
                column: number(Attribute.callColumn),
              }
            : undefined,
        };
        if (ranges.length > 0) entries.push(entry);
      } else for (const { form } of shape.attributes) skipForm(reader, form, unit);
      if (shape.hasChildren) open.push(entry);
      else if (open.length === 0) return;
    }
  });
  return entries;
}

/** A function that calls another one at most once. */
export function once<Result>(create: () => Result): () => Result {
  let created: { readonly result: Result } | undefined;
  return () => {
    created ??= { result: create() };
    return created.result;
  };
}
