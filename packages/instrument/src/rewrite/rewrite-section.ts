import type { Module } from '../binary/module.ts';
import { f64Op, i32Op, i64Op, Op } from '../binary/opcodes.ts';
import { readCount, readU32 } from '../binary/reader.ts';
import { contentReader, type Section, SectionId } from '../binary/sections.ts';
import { f64Type, i64Type } from '../binary/types.ts';
import { type VisitedSectionId, visitSection } from '../binary/visit-section.ts';
import {
  type ByteWriter,
  createWriter,
  writeByte,
  writeName,
  writeRange,
  writeS64,
  writeU32,
} from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import type { CodeScan } from '../scan/cursor.ts';
import { addedExports } from './added-exports.ts';
import { type AddedGlobal, addedGlobals } from './generated-functions.ts';
import type { GeneratedFunction } from './instructions.ts';
import { callIndex, exportIndex, type Hook, type Layout, referenceIndex } from './layout.ts';
import type { TypePool } from './type-pool.ts';

/** What the sections outside of the code depend on. */
export interface SectionContext {
  readonly module: Module;
  readonly layout: Layout;
  readonly types: TypePool;
  readonly scan: CodeScan;
  readonly generated: readonly GeneratedFunction[];
  /** The type index of each hook. */
  readonly hookTypes: readonly number[];
  /** Runs for each function index that a table, global or element refers to. */
  readonly onReference: (functionIndex: number) => void;
}

/** Entries that come behind a section's own. */
interface AddedEntries {
  readonly count: number;
  readonly write: (writer: ByteWriter) => void;
}

function addedEntries<Entry>(
  entries: readonly Entry[],
  writeEntry: (writer: ByteWriter, entry: Entry) => void,
): AddedEntries {
  const write = (writer: ByteWriter) => {
    for (const entry of entries) writeEntry(writer, entry);
  };
  return { count: entries.length, write };
}

/** The new contents of a section, or undefined if they don't change. `section` is undefined if the input doesn't have it. */
export function rewriteSection(context: SectionContext, id: number, section?: Section): Uint8Array | undefined {
  const { module, layout, types, generated, hookTypes } = context;
  switch (id) {
    case SectionId.type:
      return appendEntries(
        module,
        section,
        addedEntries(types.added, (writer, type) => writeRange(writer, type)),
      );
    case SectionId.import: {
      const imports = layout.hooks.map((hook, place) => ({ ...hook, typeIndex: hookTypes[place] as number }));
      return appendEntries(module, section, addedEntries(imports, writeHookImport));
    }
    case SectionId.function: {
      const writeType = (writer: ByteWriter, { typeIndex }: GeneratedFunction) => writeU32(writer, typeIndex);
      return appendEntries(module, section, addedEntries(generated, writeType));
    }
    case SectionId.table:
      return rewriteReferences(
        context,
        section,
        id,
        addedEntries([], () => {}),
      );
    case SectionId.global:
      return rewriteReferences(context, section, id, addedEntries(addedGlobals(module, layout), writeAddedGlobal));
    case SectionId.export:
      if (section === undefined && addedExports(layout).length === 0) return undefined;
      return encode(section, (writer) => writeExports(writer, module, layout, section));
    case SectionId.start: {
      if (section === undefined) return undefined;
      const index = readU32(contentReader(module.bytes, section), 'a function');
      return encode(section, (writer) => writeU32(writer, callIndex(layout, index)));
    }
    case SectionId.element: {
      const undeclared = undeclaredWrappers(context);
      const segments = undeclared.length === 0 ? [] : [undeclared];
      return rewriteReferences(context, section, id, addedEntries(segments, writeDeclarativeSegment));
    }
    default:
      return undefined;
  }
}

/** The bytes that `write` writes. Most sections grow by a few bytes. */
function encode(section: Section | undefined, write: (writer: ByteWriter) => void): Uint8Array {
  const writer = createWriter(256 + (section === undefined ? 0 : section.end - section.contentStart));
  write(writer);
  return writer.bytes.subarray(0, writer.length);
}

/** Copies a vector and adds entries behind its last one. */
function appendEntries({ bytes }: Module, section: Section | undefined, added: AddedEntries): Uint8Array | undefined {
  if (added.count === 0) return undefined;
  return encode(section, (writer) => {
    const reader = section && contentReader(bytes, section);
    const count = reader === undefined ? 0 : readCount(reader, 'a count');
    writeU32(writer, count + added.count);
    if (reader !== undefined) writeRange(writer, bytes, reader.offset, reader.end);
    added.write(writer);
  });
}

/** Copies a vector, replaces each function index that changes, and adds entries behind the last one. */
function rewriteReferences(
  { module, layout, onReference }: SectionContext,
  section: Section | undefined,
  id: VisitedSectionId,
  added: AddedEntries,
): Uint8Array | undefined {
  if (section === undefined) return appendEntries(module, section, added);
  const { bytes, cost } = module;
  return encode(section, (writer) => {
    let copied = section.contentStart;
    visitSection(bytes, section, id, {
      cost,
      onCount(count, offset) {
        writeU32(writer, count + added.count);
        copied = offset;
      },
      onFunctionIndex(index, start, end) {
        if (index >= layout.functionCount) {
          throw invalidModule(`Expected the index of a function, found ${index}`, start);
        }
        onReference(index);
        const target = referenceIndex(layout, index);
        if (target === index) return;
        writeRange(writer, bytes, copied, start);
        writeU32(writer, target);
        copied = end;
      },
    });
    writeRange(writer, bytes, copied, section.end);
    added.write(writer);
  });
}

function writeHookImport(writer: ByteWriter, hook: Hook & { readonly typeIndex: number }): void {
  writeName(writer, hook.module);
  writeName(writer, hook.name);
  writeByte(writer, 0); // a function
  writeU32(writer, hook.typeIndex);
}

function writeAddedGlobal(writer: ByteWriter, { valueType, initialValue }: AddedGlobal): void {
  writeByte(writer, valueType);
  writeByte(writer, 1); // mutable
  if (valueType === f64Type) {
    writeByte(writer, f64Op.const);
    writeRange(writer, new Uint8Array(Float64Array.of(initialValue).buffer));
  } else {
    writeByte(writer, valueType === i64Type ? i64Op.const : i32Op.const);
    writeS64(writer, initialValue);
  }
  writeByte(writer, Op.end);
}

/** An export names the function's definition, so an import that is exported again stays the same function. */
function writeExports(writer: ByteWriter, module: Module, layout: Layout, section: Section | undefined): void {
  const added = addedExports(layout);
  const reader = section && contentReader(module.bytes, section);
  let copied = section?.contentStart ?? 0;
  if (added.length > 0) {
    const count = reader === undefined ? 0 : readCount(reader, 'the number of exports');
    writeU32(writer, count + added.length);
    copied = reader?.offset ?? 0;
  }
  for (const { kind, index, indexStart, end } of module.exports) {
    if (kind !== 'function') continue;
    writeRange(writer, module.bytes, copied, indexStart);
    writeU32(writer, exportIndex(layout, index));
    copied = end;
  }
  if (section !== undefined) writeRange(writer, module.bytes, copied, section.end);
  for (const { name, kind, index } of added) {
    writeName(writer, name);
    writeByte(writer, kind);
    writeU32(writer, index);
  }
}

/**
 * The wrappers that need a declarative segment: `ref.func` in a body may only name a function that occurs outside of the
 * bodies. The export of an import declares the import, but not its wrapper.
 */
function undeclaredWrappers({ layout, scan }: SectionContext): number[] {
  return layout.wrapped
    .filter((index) => scan.referencedImports[index] === 1 && layout.openImports[index] === 0)
    .map((index) => layout.callTargets[index] as number);
}

function writeDeclarativeSegment(writer: ByteWriter, functions: readonly number[]): void {
  writeByte(writer, 3); // declarative, of function indices
  writeByte(writer, 0);
  writeU32(writer, functions.length);
  for (const index of functions) writeU32(writer, index);
}
