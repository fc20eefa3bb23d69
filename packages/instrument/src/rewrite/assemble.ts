import type { Import, Module } from '../binary/module.ts';
import { readerOver, readU32 } from '../binary/reader.ts';
import { findSection, type Section, SectionId, sectionOrder } from '../binary/sections.ts';
import { type ByteWriter, createWriter, putU32, writeByte, writeName, writeRange, writeU32 } from '../binary/writer.ts';
import { InstrumentError } from '../errors.ts';
import type { Note } from '../notes.ts';
import type { CodeScan } from '../scan/cursor.ts';
import { branchHintSection, writeBranchHints } from './branch-hints.ts';
import { whyStale } from './custom-sections.ts';
import { type GeneratedFunction, lastSizeGlobals, writeGeneratedBodies } from './generated-functions.ts';
import { callIndex, definitionIndex, hookModule, type Layout, referenceIndex } from './layout.ts';
import type { Measures } from './measure-bodies.ts';
import { type Names, writeNames } from './names.ts';
import { writeProducers } from './producers.ts';
import { writeElementSection, writeGlobalSection, writeTableSection } from './references.ts';
import { i32Type, type TypePool } from './type-pool.ts';
import { writeBodies } from './write-bodies.ts';

/** Everything that the passes before found out or wrote. */
export interface Parts {
  readonly module: Module;
  readonly layout: Layout;
  readonly types: TypePool;
  readonly names: Names;
  readonly scan: CodeScan;
  readonly measures: Measures;
  readonly generated: readonly GeneratedFunction[];
  readonly notes: Note[];
}

/** What is found out while the output is put together. */
interface Assembly extends Parts {
  /** Traced imports of an open type that something other than the code refers to. */
  readonly untracedReferences: Set<number>;
}

/** Bytes of the output: those of the input or made anew, or some that are written where they belong. */
type Piece = Uint8Array | { readonly length: number; readonly writeTo: (out: Uint8Array, at: number) => void };

/**
 * Puts the output together from ranges of the input and from the sections that changed, each copied once. Custom sections
 * keep their place between the others; the `name` section goes to the end, where it belongs.
 */
export function assemble(parts: Parts): Uint8Array {
  const { module } = parts;
  const assembly: Assembly = { ...parts, untracedReferences: new Set(referredOpenImports(parts)) };
  // The type of the hooks must be known before the type section is written.
  const hookType = parts.types.intern([i32Type], []);
  const pieces: Piece[] = [module.bytes.subarray(0, 8)];
  let place = 0;
  const addUpTo = (end: number) => {
    while (place < end) addSection(pieces, assembly, sectionOrder[place++] as number, undefined, hookType);
  };
  for (const section of module.sections) {
    if (section.id === SectionId.custom) {
      addCustom(pieces, parts, section);
      continue;
    }
    addUpTo(sectionOrder.indexOf(section.id));
    addSection(pieces, assembly, section.id, section, hookType);
    place++;
  }
  addUpTo(sectionOrder.length);
  for (const index of assembly.untracedReferences) parts.notes.push(untracedReferenceNote(module, index));
  addTrailer(pieces, parts);
  return concatenate(pieces);
}

/** Adds one section; `section` is the input's, if it has one. */
function addSection(
  pieces: Piece[],
  parts: Assembly,
  id: number,
  section: Section | undefined,
  hookType: number,
): void {
  if (id === SectionId.code) {
    addCode(pieces, parts, section !== undefined);
    return;
  }
  const contents = rewriteSection(parts, id, section, hookType);
  if (contents === 'unchanged') {
    if (section !== undefined) pieces.push(parts.module.bytes.subarray(section.start, section.end));
    return;
  }
  pieces.push(header(id, contents.length), contents);
}

function addCode(pieces: Piece[], parts: Parts, isInInput: boolean): void {
  const { module, layout, generated, measures } = parts;
  const bodyCount = module.functionTypes.length - layout.importCount + generated.length;
  if (bodyCount === 0 && !isInInput) return;
  const encoded = new Uint8Array(5);
  const count = encoded.subarray(0, putU32(encoded, 0, bodyCount));
  const added = createWriter(64 * generated.length);
  writeGeneratedBodies(added, generated);
  const writeTo = (out: Uint8Array, at: number) => writeBodies(parts, measures, out, at);
  pieces.push(header(SectionId.code, count.length + measures.totalBytes + added.length), count);
  pieces.push({ length: measures.totalBytes, writeTo }, added.bytes.subarray(0, added.length));
}

function rewriteSection(
  parts: Assembly,
  id: number,
  section: Section | undefined,
  hookType: number,
): Uint8Array | 'unchanged' {
  const { module, layout, types, generated, scan } = parts;
  const writer = createWriter(section ? section.end - section.contentStart + 256 : 256);
  const context = {
    bytes: module.bytes,
    writer,
    functionCount: layout.functionCount,
    cost: module.cost,
    referenceIndex: (index: number) => {
      if (layout.traced[index] === 1 && layout.openImports[index] === 1) parts.untracedReferences.add(index);
      return referenceIndex(layout, index);
    },
  };
  if (id === SectionId.type && types.added.length > 0) {
    appendEntries(writer, module, section, types.added);
  } else if (id === SectionId.import) {
    appendEntries(writer, module, section, hookImports(layout, hookType));
  } else if (id === SectionId.function && generated.length > 0) {
    appendEntries(writer, module, section, generated.map(encodeTypeIndex));
  } else if (id === SectionId.table && section !== undefined) {
    writeTableSection(context, section);
  } else if (id === SectionId.global && (section !== undefined || layout.watchedMemories.length > 0)) {
    writeGlobalSection(context, section, lastSizeGlobals(module, layout));
  } else if (id === SectionId.export && section !== undefined) {
    writeExports(writer, module, layout, section);
  } else if (id === SectionId.start && section !== undefined) {
    writeU32(
      writer,
      callIndex(layout, readU32(readerOver(module.bytes, section.contentStart, section.end), 'a function')),
    );
  } else if (id === SectionId.element) {
    const declared = findUndeclared(layout, scan.referencedImports);
    if (section === undefined && declared.length === 0) return 'unchanged';
    writeElementSection(context, section, declared);
  } else {
    return 'unchanged';
  }
  return writer.bytes.subarray(0, writer.length);
}

/** Copies a vector and adds entries behind its last one. */
function appendEntries(
  writer: ByteWriter,
  module: Module,
  section: Section | undefined,
  added: readonly Uint8Array[],
): void {
  const reader = section ? readerOver(module.bytes, section.contentStart, section.end) : readerOver(module.bytes, 0, 0);
  const count = section ? readU32(reader, 'a count') : 0;
  writeU32(writer, count + added.length);
  writeRange(writer, module.bytes, reader.offset, reader.end);
  for (const entry of added) writeRange(writer, entry);
}

function hookImports(layout: Layout, hookType: number): Uint8Array[] {
  return layout.hooks.map((hook) => {
    const writer = createWriter(64);
    writeName(writer, hookModule);
    writeName(writer, hook);
    writeByte(writer, 0); // a function
    writeU32(writer, hookType);
    return writer.bytes.subarray(0, writer.length);
  });
}

function encodeTypeIndex({ typeIndex }: GeneratedFunction): Uint8Array {
  const encoded = new Uint8Array(5);
  return encoded.subarray(0, putU32(encoded, 0, typeIndex));
}

/** Exports speak of the function itself, so an import that is exported again stays the same function. */
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
function findUndeclared(layout: Layout, referencedImports: Uint8Array): number[] {
  return layout.wrapped
    .filter((index) => referencedImports[index] === 1 && layout.openImports[index] === 0)
    .map((index) => layout.callTargets[index] as number);
}

/** The traced imports of an open type of which `ref.func` takes a reference. */
function referredOpenImports({ layout, scan }: Parts): number[] {
  return layout.wrapped.filter(
    (index) => scan.referencedImports[index] === 1 && layout.traced[index] === 1 && layout.openImports[index] === 1,
  );
}

function untracedReferenceNote(module: Module, index: number): Note {
  const { module: from, name: field } = module.importedFunctions[index] as Import;
  const name = `${from}.${field}`;
  const message = `Calls of ${name} through a reference or a table are not traced: its declared type is open, so the function may have a subtype of it`;
  return { code: 'reference_not_traced', message, name };
}

function addCustom(pieces: Piece[], parts: Parts, section: Section): void {
  const { module, notes, names } = parts;
  if (section.name === 'producers') return;
  if (section.name === 'name') {
    if (section === names.section) return;
    noteDropped(notes, section, 'only the first name section counts');
  } else if (section.name === branchHintSection) {
    addBranchHints(pieces, parts, section);
  } else {
    const reason = whyStale(section);
    if (reason !== undefined) noteDropped(notes, section, reason);
    else pieces.push(module.bytes.subarray(section.start, section.end));
  }
}

/** Hints are no more than that: malformed ones are left out. */
function addBranchHints(pieces: Piece[], parts: Parts, section: Section): void {
  const writer = createWriter(section.end - section.start + 64);
  try {
    writeName(writer, branchHintSection);
    writeBranchHints(writer, parts, section);
    pieces.push(header(SectionId.custom, writer.length), writer.bytes.subarray(0, writer.length));
  } catch (error) {
    if (!(error instanceof InstrumentError)) throw error;
    noteDropped(parts.notes, section, `it is malformed: ${error.message}`);
  }
}

function noteDropped(notes: Note[], section: Section, reason: string): void {
  const message = `Custom section ${JSON.stringify(section.name)} was left out: ${reason}`;
  notes.push({ code: 'section_dropped', message, section: section.name, offset: section.start });
}

function addTrailer(pieces: Piece[], parts: Parts): void {
  const { module, layout, names, measures, generated, notes } = parts;
  const nameWriter = createWriter(expectedNameBytes(parts));
  writeName(nameWriter, 'name');
  writeNames(nameWriter, {
    module,
    layout,
    names,
    hookNames: layout.hooks.map((hook) => `${hookModule}.${hook}`),
    addedNames: generated.map(({ name }) => name),
    addedLabels: measures.addedLabels,
  });
  const producersWriter = createWriter(256);
  writeName(producersWriter, 'producers');
  const producers = module.sections.find(({ id, name }) => id === SectionId.custom && name === 'producers');
  writeProducers(producersWriter, module.bytes, producers, notes);
  for (const writer of [nameWriter, producersWriter]) {
    pieces.push(header(SectionId.custom, writer.length), writer.bytes.subarray(0, writer.length));
  }
}

/** More than is needed, as a rule: memory that is not written to costs nothing. */
function expectedNameBytes({ module, names, generated }: Parts): number {
  const ownBytes = names.section ? names.section.end - names.section.contentStart : 0;
  const exports = findSection(module.sections, SectionId.export);
  const exportBytes = exports ? exports.end - exports.contentStart : 0;
  return ownBytes + exportBytes + 16 * module.functionTypes.length + 64 * generated.length + 1024;
}

function header(id: number, size: number): Uint8Array {
  const encoded = new Uint8Array(6);
  encoded[0] = id;
  return encoded.subarray(0, putU32(encoded, 1, size));
}

function concatenate(pieces: readonly Piece[]): Uint8Array {
  const output = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) output.set(piece, at);
    else piece.writeTo(output, at);
    at += piece.length;
  }
  return output;
}
