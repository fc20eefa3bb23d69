import type { Export } from '../binary/exports.ts';
import type { Module } from '../binary/module.ts';
import {
  findFirstExports,
  functionSubsection,
  labelSubsection,
  localSubsection,
  type Names,
  nameWithoutExport,
  type Subsection,
  skipNameMap,
} from '../binary/name-section.ts';
import { type ByteReader, readerOver, readU32, skipBytes } from '../binary/reader.ts';
import { type ByteWriter, writeByte, writeName, writeRange, writeSized, writeU32 } from '../binary/writer.ts';
import { definitionIndex, type Layout } from './layout.ts';
import { labelsBeforeChecks } from './probes.ts';

/** The input of {@link writeNames}. */
interface NameContext {
  readonly module: Module;
  readonly layout: Layout;
  readonly names: Names;
  /** Names of the functions that follow the module's own. */
  readonly addedNames: readonly string[];
  readonly hookNames: readonly string[];
  /** Per function body, by how much label indices shift. */
  readonly addedLabels: Uint8Array;
}

/** Writes the contents of the `name` section. Every traced or added function gets a name. */
export function writeNames(writer: ByteWriter, context: NameContext): void {
  const { module, names } = context;
  let wroteFunctions = false;
  const writeFunctionsOnce = () => {
    if (!wroteFunctions) writeFunctionNames(writer, context);
    wroteFunctions = true;
  };
  for (const subsection of names.others) {
    if (subsection.id > functionSubsection) writeFunctionsOnce();
    if (subsection.id === localSubsection || subsection.id === labelSubsection) {
      writeByte(writer, subsection.id);
      const expectedBytes = subsection.end - subsection.contentStart;
      writeSized(writer, expectedBytes, () => writeIndirectMap(writer, context, subsection));
    } else {
      writeRange(writer, module.bytes, subsection.start, subsection.end);
    }
  }
  writeFunctionsOnce();
}

function writeFunctionNames(writer: ByteWriter, context: NameContext): void {
  const { module, layout, names } = context;
  const { starts, ends } = names;
  const firstExports = findFirstExports(module);
  const writeMadeUpName = (index: number) => {
    const place = firstExports[index] as number;
    if (place === 0) {
      writeName(writer, nameWithoutExport(module, index));
      return;
    }
    const { nameStart, nameEnd } = module.exports[place - 1] as Export;
    writeU32(writer, nameEnd - nameStart);
    writeRange(writer, module.bytes, nameStart, nameEnd);
  };
  const allocators = new Set(layout.allocators.map(({ functionIndex }) => functionIndex));
  const needsName = (index: number) =>
    starts[index] === 0 && (layout.traced[index] === 1 || (allocators.size > 0 && allocators.has(index)));
  let count = context.hookNames.length + context.addedNames.length;
  for (let index = 0; index < layout.functionCount; index++) if (starts[index] !== 0 || needsName(index)) count++;
  const writeOwn = (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      if (needsName(index)) {
        writeU32(writer, definitionIndex(layout, index));
        writeMadeUpName(index);
      } else if (starts[index] !== 0) {
        writeU32(writer, definitionIndex(layout, index));
        writeU32(writer, (ends[index] as number) - (starts[index] as number));
        writeRange(writer, module.bytes, starts[index], ends[index]);
      }
    }
  };
  const writeAdded = (firstIndex: number, added: readonly string[]) => {
    added.forEach((name, place) => {
      writeU32(writer, firstIndex + place);
      writeName(writer, name);
    });
  };
  writeByte(writer, functionSubsection);
  const section = names.section;
  writeSized(writer, section ? section.end - section.contentStart : 0x4000, () => {
    writeU32(writer, count);
    writeOwn(0, layout.importCount);
    writeAdded(layout.importCount, context.hookNames);
    writeOwn(layout.importCount, layout.functionCount);
    writeAdded(layout.functionCount + layout.shift, context.addedNames);
  });
}

/** Writes a map from functions to names of their locals or labels, which `readNames()` has checked. */
function writeIndirectMap(writer: ByteWriter, context: NameContext, subsection: Subsection): void {
  const { module, layout, addedLabels } = context;
  const reader = readerOver(module.bytes, subsection.contentStart, subsection.end);
  const count = readU32(reader, 'the number of functions');
  writeU32(writer, count);
  for (let entry = 0; entry < count; entry++) {
    const index = readU32(reader, 'a function index');
    writeU32(writer, definitionIndex(layout, index));
    const body = index - layout.importCount;
    const shiftOf = subsection.id === labelSubsection ? labelShift(layout, addedLabels, body) : undefined;
    writeShiftedNameMap(writer, reader, shiftOf);
  }
}

/** By how much the label indices of a body shift: its exit guard and its probes add labels before a label. */
function labelShift(layout: Layout, addedLabels: Uint8Array, body: number): ((label: number) => number) | undefined {
  const shift = addedLabels[body] ?? 0;
  const before = layout.probes === undefined ? [] : labelsBeforeChecks(layout.probes, body);
  if (shift === 0 && before.length === 0) return undefined;
  return (label) => {
    let low = 0;
    let high = before.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((before[middle] as number) <= label) low = middle + 1;
      else high = middle;
    }
    return shift + low;
  };
}

function writeShiftedNameMap(writer: ByteWriter, reader: ByteReader, shiftOf?: (index: number) => number): void {
  const start = reader.offset;
  if (shiftOf === undefined) {
    skipNameMap(reader);
    writeRange(writer, reader.bytes, start, reader.offset);
    return;
  }
  const count = readU32(reader, 'the number of names');
  writeU32(writer, count);
  for (let entry = 0; entry < count; entry++) {
    const index = readU32(reader, 'an index');
    writeU32(writer, index + shiftOf(index));
    const nameStart = reader.offset;
    skipBytes(reader, readU32(reader, "a name's length"), 'a name');
    writeRange(writer, reader.bytes, nameStart, reader.offset);
  }
}
