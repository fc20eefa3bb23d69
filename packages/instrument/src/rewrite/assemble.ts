import type { Import } from '../binary/imports.ts';
import type { Module } from '../binary/module.ts';
import type { Names } from '../binary/name-section.ts';
import { findSection, type Section, SectionId, sectionOrder } from '../binary/sections.ts';
import { createWriter, putU32, writeName } from '../binary/writer.ts';
import { coverageSection, writeCoverageMap } from '../coverage/coverage-map.ts';
import { InstrumentError } from '../errors.ts';
import type { Note } from '../notes.ts';
import type { InstrumentOptions } from '../select/config.ts';
import type { BodyContext } from './body-context.ts';
import { branchHintSection, writeBranchHints } from './branch-hints.ts';
import { codeMapSection, writeCodeMap } from './code-map.ts';
import { whyStale } from './custom-sections.ts';
import { describeCoverage } from './describe-coverage.ts';
import { writeGeneratedBodies } from './generated-functions.ts';
import type { GeneratedFunction } from './instructions.ts';
import type { Measures } from './measure-bodies.ts';
import { createOffsetMap, type OffsetMap } from './offset-map.ts';
import { writeProducers } from './producers.ts';
import { rewriteSection, type SectionContext } from './rewrite-section.ts';
import { writeBodies } from './write-bodies.ts';
import { writeNames } from './write-names.ts';

/** The results of the earlier passes. */
export interface Parts extends BodyContext {
  readonly names: Names;
  readonly measures: Measures;
  readonly generated: readonly GeneratedFunction[];
  readonly notes: Note[];
  readonly options: InstrumentOptions;
}

/** A part of the output: bytes, or a function that writes them in place. */
type Piece = Uint8Array | { readonly length: number; readonly writeTo: (out: Uint8Array, at: number) => void };

/**
 * Assembles the output from ranges of the input and changed sections, each copied once. Custom sections keep their place
 * between the others. The `name` section goes to the end, where the specification puts it.
 */
export function assemble(parts: Parts): Uint8Array<ArrayBuffer> {
  const { module, layout, scan } = parts;
  let map: OffsetMap | undefined;
  const offsetMap = () => (map ??= createOffsetMap(parts));
  const isUntracedByReference = (index: number) => layout.traced[index] === 1 && layout.openImports[index] === 1;
  // References in bodies are known from the scan; those in other sections are added while these are rewritten.
  const untracedReferences = new Set(
    layout.wrapped.filter((index) => scan.referencedImports[index] === 1 && isUntracedByReference(index)),
  );
  const context: SectionContext = {
    ...parts,
    // This may add types, so it comes before the type section is written.
    hookTypes: layout.hooks.map(({ parameters }) => parts.types.intern(parameters, [])),
    onReference(index) {
      if (isUntracedByReference(index)) untracedReferences.add(index);
    },
  };
  const pieces: Piece[] = [module.bytes.subarray(0, 8)];
  const add = (id: number, section?: Section) => {
    if (id === SectionId.code) addCode(pieces, parts, section !== undefined);
    else addSection(pieces, context, id, section);
  };
  let place = 0;
  for (const section of module.sections) {
    if (section.id === SectionId.custom) {
      addCustom(pieces, parts, offsetMap, section);
      continue;
    }
    while (sectionOrder[place] !== section.id) add(sectionOrder[place++] as number);
    add(section.id, section);
    place++;
  }
  while (place < sectionOrder.length) add(sectionOrder[place++] as number);
  for (const index of untracedReferences) parts.notes.push(untracedReferenceNote(module, index));
  addTrailer(pieces, parts, offsetMap);
  return concatenate(pieces);
}

function addSection(pieces: Piece[], context: SectionContext, id: number, section: Section | undefined): void {
  const contents = rewriteSection(context, id, section);
  if (contents !== undefined) pieces.push(header(id, contents.length), contents);
  else if (section !== undefined) pieces.push(context.module.bytes.subarray(section.start, section.end));
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

function untracedReferenceNote(module: Module, index: number): Note {
  const { module: from, name: field } = module.importedFunctions[index] as Import;
  const name = `${from}.${field}`;
  const message = `Calls of ${name} through a reference or a table are not traced: its declared type is open, so the function may have a subtype of it`;
  return { code: 'reference_not_traced', message, name };
}

function addCustom(pieces: Piece[], parts: Parts, offsetMap: () => OffsetMap, section: Section): void {
  const { module, notes, names } = parts;
  if (section.name === 'producers') return; // addTrailer() writes it again, with an entry for this tool.
  if (section.name === 'name') {
    if (section === names.section) return;
    noteDropped(notes, section, 'only the first name section counts');
  } else if (section.name === branchHintSection) {
    addBranchHints(pieces, parts, offsetMap(), section);
  } else {
    const reason = whyStale(section);
    if (reason !== undefined) noteDropped(notes, section, reason);
    else pieces.push(module.bytes.subarray(section.start, section.end));
  }
}

/** Adds the rewritten branch hints; drops the section with a note if it is malformed. */
function addBranchHints(pieces: Piece[], parts: Parts, map: OffsetMap, section: Section): void {
  const writer = createWriter(section.end - section.start + 64);
  try {
    writeName(writer, branchHintSection);
    writeBranchHints(writer, parts, map, section);
    pieces.push(header(SectionId.custom, writer.length), writer.bytes.subarray(0, writer.length));
  } catch (error) {
    if (!(error instanceof InstrumentError)) throw error;
    noteDropped(parts.notes, section, `it is malformed: ${error.message}`);
  }
}

function noteDropped(notes: Note[], section: Section, reason: string): void {
  const message = `Custom section ${JSON.stringify(section.name)} was dropped: ${reason}`;
  notes.push({ code: 'section_dropped', message, section: section.name, offset: section.start });
}

function addTrailer(pieces: Piece[], parts: Parts, offsetMap: () => OffsetMap): void {
  const { module, layout, names, measures, generated, notes } = parts;
  const nameWriter = createWriter(expectedNameBytes(parts));
  writeName(nameWriter, 'name');
  writeNames(nameWriter, {
    module,
    layout,
    names,
    hookNames: layout.hooks.map(({ module: from, name }) => `${from}.${name}`),
    addedNames: generated.map(({ name }) => name),
    addedLabels: measures.addedLabels,
  });
  const producersWriter = createWriter(256);
  writeName(producersWriter, 'producers');
  const producers = module.sections.find(({ id, name }) => id === SectionId.custom && name === 'producers');
  writeProducers(producersWriter, module.bytes, producers, notes);
  const writers = [nameWriter, producersWriter];
  if (parts.options.codeMap === true) {
    const writer = createWriter(4096);
    writeName(writer, codeMapSection);
    writeCodeMap(writer, offsetMap());
    writers.push(writer);
  }
  const { probes } = layout;
  if (probes !== undefined && probes.countIndex !== -1) {
    const writer = createWriter(16 + 8 * probes.blocks.count);
    writeName(writer, coverageSection);
    writeCoverageMap(writer, describeCoverage(parts, probes, offsetMap()));
    writers.push(writer);
  }
  for (const writer of writers) {
    pieces.push(header(SectionId.custom, writer.length), writer.bytes.subarray(0, writer.length));
  }
}

/** Usually more than needed: memory that is not written to costs nothing. */
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

function concatenate(pieces: readonly Piece[]): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) output.set(piece, at);
    else piece.writeTo(output, at);
    at += piece.length;
  }
  return output;
}
