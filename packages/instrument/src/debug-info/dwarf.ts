import { type Abbreviation, readAbbreviations } from './abbreviations.ts';
import { type CodeOwners, findOwners } from './code-owners.ts';
import { type CompileUnit, type FunctionEntry, once, readCompileUnit } from './compile-unit.ts';
import { readDwarfSections } from './dwarf-sections.ts';
import { findInnermost } from './innermost.ts';
import { findRow, type LineTable, visitRows } from './line-table.ts';
import { orUndefined } from './or-undefined.ts';
import { createOrigins } from './origins.ts';
import type { LineRange, SourceLocation } from './source-lookup.ts';
import type { CodeRange } from './unit-values.ts';
import { readUnit, type Unit } from './units.ts';

/** The locations in DWARF by code offsets. */
export interface Dwarf {
  readonly locate: (codeOffset: number) => SourceLocation[];
  /** Where the function with code at an offset is declared, else the first line from there on. */
  readonly declarationIn: (body: CodeRange) => SourceLocation | undefined;
  readonly lineRanges: (start: number, end: number) => LineRange[];
  readonly files: () => string[];
}

/** A chain of more inlined calls is cut. */
const maxFrames = 1_000;

/** Opens the DWARF sections of a module. Returns undefined without them. */
export function openDwarf(bytes: Uint8Array): Dwarf | undefined {
  const sections = readDwarfSections(bytes);
  if (!sections.has('.debug_info') || !sections.has('.debug_abbrev')) return undefined;
  const units = once(() => openUnits());
  const owners = once((): CodeOwners<CompileUnit> => {
    const owned = units().map((unit) => ({ owner: unit, ranges: unit.ranges() }));
    return orUndefined(() => findOwners(owned, sections.spend)) ?? { at: () => undefined, within: () => [] };
  });
  const functionsOf = new WeakMap<CompileUnit, (codeOffset: number) => FunctionEntry | undefined>();
  const origins = createOrigins(units);

  function openUnits(): CompileUnit[] {
    const tables = new Map<number, ReadonlyMap<number, Abbreviation>>();
    const lineTables = new Map<number, LineTable | undefined>();
    const reader = sections.readerAt('.debug_info', 0);
    const opened: CompileUnit[] = [];
    for (let unit = nextUnit(); unit !== undefined; unit = nextUnit()) {
      const { abbreviationsOffset } = unit;
      const abbreviations = () => {
        const known = tables.get(abbreviationsOffset);
        if (known !== undefined) return known;
        sections.spend(0); // Reading a table is no less work when all steps are spent.
        const start = sections.readerAt('.debug_abbrev', abbreviationsOffset);
        const from = start.offset;
        const table = readAbbreviations(start);
        sections.spend(start.offset - from);
        tables.set(abbreviationsOffset, table);
        return table;
      };
      const compileUnit = readCompileUnit(sections, unit, reader, abbreviations, lineTables);
      if (compileUnit !== undefined) opened.push(compileUnit);
    }
    return opened;

    function nextUnit(): Unit | undefined {
      return reader.offset < reader.end ? orUndefined(() => readUnit(reader, false)) : undefined;
    }
  }

  function functionAt(unit: CompileUnit, codeOffset: number): FunctionEntry | undefined {
    let find = functionsOf.get(unit);
    if (find === undefined) {
      find = findInnermost(unit.functions().map((owner) => ({ owner, ranges: owner.ranges })));
      functionsOf.set(unit, find);
    }
    return find(codeOffset);
  }

  function locate(codeOffset: number): SourceLocation[] {
    const unit = owners().at(codeOffset);
    if (unit === undefined) return [];
    const lines = unit.lines();
    const frames: SourceLocation[] = [];
    let place = lines && placeOf(lines, findRow(lines, codeOffset));
    let entry = functionAt(unit, codeOffset);
    if (entry === undefined) return place === undefined ? [] : [place];
    for (; entry !== undefined && frames.length < maxFrames; entry = entry.parent) {
      const name = origins.nameOf(unit, entry.offset);
      const { file, line, column } = place ?? { file: '(unknown)', line: 0, column: 0 };
      frames.push(name === undefined ? { file, line, column } : { file, line, column, function: name });
      if (entry.call === undefined) break;
      const { call } = entry;
      place = { file: lines?.header.fileName(call.file) ?? '(unknown)', line: call.line, column: call.column };
    }
    return frames;
  }

  function declarationIn({ start, end }: CodeRange): SourceLocation | undefined {
    const unit = owners().at(start) ?? owners().at(end - 1);
    if (unit === undefined) return undefined;
    let entry = functionAt(unit, start) ?? functionAt(unit, end - 1);
    for (let depth = 0; entry?.parent !== undefined && depth < maxFrames; depth++) entry = entry.parent;
    const name = entry && origins.nameOf(unit, entry.offset);
    const place = (entry && origins.declarationOf(unit, entry.offset)) ?? firstLine(unit, start, end);
    return place && { ...place, ...(name !== undefined && { function: name }) };
  }

  function firstLine(unit: CompileUnit, start: number, end: number): SourceLocation | undefined {
    const lines = unit.lines();
    let first: SourceLocation | undefined;
    if (lines === undefined) return undefined;
    visitRows(lines, start, end, (row) => {
      first ??= (lines.line[row] as number) > 0 ? placeOf(lines, row) : undefined;
    });
    return first;
  }

  return {
    locate,
    declarationIn,
    lineRanges(start, end) {
      return owners()
        .within(start, end)
        .flatMap((part) => {
          const lines = part.owner.lines();
          const ranges: LineRange[] = [];
          if (lines === undefined) return ranges;
          visitRows(lines, part.start, part.end, (row, from, to) => {
            const place = placeOf(lines, row);
            if (place !== undefined) ranges.push({ start: from, end: to, ...place });
          });
          return ranges;
        });
    },
    files() {
      const tables = new Set(units().flatMap((unit) => unit.lines() ?? []));
      const names = [...tables].flatMap((lines) => {
        const numbers = new Set<number>();
        visitRows(lines, 0, Number.POSITIVE_INFINITY, (row) => numbers.add(lines.file[row] as number));
        return [...numbers].flatMap((file) => lines.header.fileName(file) ?? []);
      });
      return [...new Set(names)];
    },
  };
}

function placeOf(lines: LineTable, row: number): SourceLocation | undefined {
  if (row === -1) return undefined;
  const file = lines.header.fileName(lines.file[row] as number) ?? '(unknown)';
  return { file, line: lines.line[row] as number, column: lines.column[row] as number };
}
