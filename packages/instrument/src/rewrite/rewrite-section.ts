import type { Module } from '../binary/module.ts';
import { Op } from '../binary/opcodes.ts';
import { readCount, readU32 } from '../binary/reader.ts';
import { contentReader, type Section, SectionId } from '../binary/sections.ts';
import { type VisitedSectionId, visitSection } from '../binary/visit-section.ts';
import {
  type ByteWriter,
  createWriter,
  writeByte,
  writeName,
  writeRange,
  writeS32,
  writeU32,
} from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import type { CodeScan } from '../scan/cursor.ts';
import { type GeneratedFunction, lastSizeGlobals } from './generated-functions.ts';
import { callIndex, definitionIndex, hookModule, type Layout, referenceIndex } from './layout.ts';
import { i64Type, type TypePool } from './type-pool.ts';

/** What the sections outside of the code depend on. */
export interface SectionContext {
  readonly module: Module;
  readonly layout: Layout;
  readonly types: TypePool;
  readonly scan: CodeScan;
  readonly generated: readonly GeneratedFunction[];
  /** The type index of the hooks. */
  readonly hookType: number;
  /** Runs for each function index that a table, global or element refers to. */
  readonly onReference: (functionIndex: number) => void;
}

/** The new contents of a section, or undefined if they don't change. `section` is undefined if the input doesn't have it. */
export function rewriteSection(context: SectionContext, id: number, section?: Section): Uint8Array | undefined {
  const { module, layout, types, generated, scan } = context;
  switch (id) {
    case SectionId.type:
      return appendEntries(module, section, types.added);
    case SectionId.import:
      return appendEntries(module, section, hookImports(context));
    case SectionId.function: {
      const typeIndices = generated.map(({ typeIndex }) => encode((writer) => writeU32(writer, typeIndex), 5));
      return appendEntries(module, section, typeIndices);
    }
    case SectionId.table:
      return rewriteReferences(context, section, id, []);
    case SectionId.global:
      return rewriteReferences(context, section, id, encodeLastSizeGlobals(module, layout));
    case SectionId.export:
      return section && encode((writer) => writeExports(writer, module, layout, section), roomFor(section));
    case SectionId.start: {
      if (section === undefined) return undefined;
      const index = readU32(contentReader(module.bytes, section), 'a function');
      return encode((writer) => writeU32(writer, callIndex(layout, index)));
    }
    case SectionId.element:
      return rewriteReferences(context, section, id, declarativeSegments(layout, scan.referencedImports));
    default:
      return undefined;
  }
}

function encode(write: (writer: ByteWriter) => void, expectedBytes = 64): Uint8Array {
  const writer = createWriter(expectedBytes);
  write(writer);
  return writer.bytes.subarray(0, writer.length);
}

/** Enough for most sections: the indices in it grow by a few bytes, and few entries are added. */
function roomFor(section: Section | undefined): number {
  return 256 + (section === undefined ? 0 : section.end - section.contentStart);
}

/** Copies a vector and adds entries behind its last one. */
function appendEntries(
  { bytes }: Module,
  section: Section | undefined,
  added: readonly Uint8Array[],
): Uint8Array | undefined {
  if (added.length === 0) return undefined;
  return encode((writer) => {
    const reader = section && contentReader(bytes, section);
    const count = reader === undefined ? 0 : readCount(reader, 'a count');
    writeU32(writer, count + added.length);
    if (reader !== undefined) writeRange(writer, bytes, reader.offset, reader.end);
    for (const entry of added) writeRange(writer, entry);
  }, roomFor(section));
}

/** Copies a vector, replaces each function index that changes, and adds entries behind the last one. */
function rewriteReferences(
  { module, layout, onReference }: SectionContext,
  section: Section | undefined,
  id: VisitedSectionId,
  added: readonly Uint8Array[],
): Uint8Array | undefined {
  if (section === undefined) return appendEntries(module, section, added);
  const { bytes, cost } = module;
  return encode((writer) => {
    let copied = section.contentStart;
    visitSection(bytes, section, id, {
      cost,
      onCount(count, offset) {
        writeU32(writer, count + added.length);
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
    for (const entry of added) writeRange(writer, entry);
  }, roomFor(section));
}

function hookImports({ layout, hookType }: SectionContext): Uint8Array[] {
  return layout.hooks.map((hook) =>
    encode((writer) => {
      writeName(writer, hookModule);
      writeName(writer, hook);
      writeByte(writer, 0); // a function
      writeU32(writer, hookType);
    }),
  );
}

function encodeLastSizeGlobals(module: Module, layout: Layout): Uint8Array[] {
  return lastSizeGlobals(module, layout).map(({ valueType, initialValue }) =>
    encode((writer) => {
      writeByte(writer, valueType);
      writeByte(writer, 1); // mutable
      writeByte(writer, valueType === i64Type ? Op.i64Const : Op.i32Const);
      writeS32(writer, initialValue);
      writeByte(writer, Op.end);
    }, 9),
  );
}

/** An export names the function's definition, so an import that is exported again stays the same function. */
function writeExports(writer: ByteWriter, module: Module, layout: Layout, section: Section): void {
  let copied = section.contentStart;
  for (const { kind, index, indexStart, end } of module.exports) {
    if (kind !== 'function') continue;
    writeRange(writer, module.bytes, copied, indexStart);
    writeU32(writer, definitionIndex(layout, index));
    copied = end;
  }
  writeRange(writer, module.bytes, copied, section.end);
}

/**
 * `ref.func` in a body may only name a function that occurs outside of the bodies. An import may have been declared by
 * its export, which does not declare its wrapper.
 */
function declarativeSegments(layout: Layout, referencedImports: Uint8Array): Uint8Array[] {
  const wrappers = layout.wrapped
    .filter((index) => referencedImports[index] === 1 && layout.openImports[index] === 0)
    .map((index) => layout.callTargets[index] as number);
  if (wrappers.length === 0) return [];
  return [
    encode((writer) => {
      writeByte(writer, 3); // declarative, of function indices
      writeByte(writer, 0);
      writeU32(writer, wrappers.length);
      for (const index of wrappers) writeU32(writer, index);
    }),
  ];
}
