import type { Import } from '../binary/imports.ts';
import type { Module } from '../binary/module.ts';
import { findSection, type Section, SectionId, sectionOrder } from '../binary/sections.ts';
import { createWriter, putU32, writeName } from '../binary/writer.ts';
import { coverageSection, writeCoverageMap } from '../coverage/coverage-map.ts';
import type { Note } from '../notes.ts';
import { codeMapSection, writeCodeMap } from './code-map.ts';
import { createOffsetMap } from './create-offset-map.ts';
import { type BuildIds, createCustomSectionWriter, noteDropped } from './custom-section-writer.ts';
import { createDebugFile } from './debug-file.ts';
import { debugSectionPrefix } from './debug-info/debug-info.ts';
import { describeCoverage } from './describe-coverage.ts';
import { writeGeneratedBodies } from './generated-functions.ts';
import type { OffsetMap } from './offset-map.ts';
import type { Parts } from './parts.ts';
import { addWritten, concatenate, lengthOf, type Piece, sectionHeader } from './pieces.ts';
import { writeProducers } from './producers.ts';
import { rewriteSection, type SectionContext } from './rewrite-section.ts';
import { writeBodies } from './write-bodies.ts';
import { writeNames } from './write-names.ts';

export interface Assembled {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The rewritten source map of the options. */
  readonly sourceMap: string | undefined;
  readonly buildId: BuildIds | undefined;
  /** The rewritten debug file of the options. */
  readonly debugFile: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * Assembles the output from ranges of the input and changed sections, each copied once. Custom sections keep their place
 * between the others. The `name` section goes to the end, where the specification puts it.
 */
export function assemble(parts: Parts): Assembled {
  const { module, layout, scan, names } = parts;
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
  const customSections = createCustomSectionWriter(pieces, parts, offsetMap);
  let codeStart = 0;
  const add = (id: number, section?: Section) => {
    if (id === SectionId.code) codeStart = addCode(pieces, parts, section !== undefined);
    else addSection(pieces, context, id, section);
  };
  let place = 0;
  // LLVM's tools refuse a module in which this section comes before `producers`.
  const last: Section[] = [];
  const hasDebugInfo = module.sections.some(({ name }) => name.startsWith(debugSectionPrefix));
  for (const section of module.sections) {
    if (section.id === SectionId.custom) {
      if (section.name === 'name' && section !== names.section) {
        noteDropped(parts.notes, section, 'only the first name section counts');
      } else if (hasDebugInfo && section.name === 'target_features') last.push(section);
      else if (section.name !== 'name' && section.name !== 'producers') customSections.add(section);
      continue;
    }
    while (sectionOrder[place] !== section.id) add(sectionOrder[place++] as number);
    add(section.id, section);
    place++;
  }
  while (place < sectionOrder.length) add(sectionOrder[place++] as number);
  for (const index of untracedReferences) parts.notes.push(untracedReferenceNote(module, index));
  const sourceMap = customSections.addSourceMaps(codeStart);
  addTrailer(pieces, parts, offsetMap);
  for (const section of last) customSections.add(section);
  const bytes = concatenate(pieces);
  const buildId = customSections.finish(bytes);
  const debugSections = customSections.debugSections();
  return { bytes, sourceMap, buildId, debugFile: debugSections && createDebugFile(bytes, debugSections) };
}

function addSection(pieces: Piece[], context: SectionContext, id: number, section: Section | undefined): void {
  const contents = rewriteSection(context, id, section);
  if (contents !== undefined) pieces.push(sectionHeader(id, contents.length), contents);
  else if (section !== undefined) pieces.push(context.module.bytes.subarray(section.start, section.end));
}

/** Adds the code section, and returns the offset of its contents in the output. */
function addCode(pieces: Piece[], parts: Parts, isInInput: boolean): number {
  const { module, layout, generated, measures } = parts;
  const bodyCount = module.functionTypes.length - layout.importCount + generated.length;
  if (bodyCount === 0 && !isInInput) return 0;
  const encoded = new Uint8Array(5);
  const count = encoded.subarray(0, putU32(encoded, 0, bodyCount));
  const added = createWriter(64 * generated.length);
  writeGeneratedBodies(added, generated);
  const writeTo = (out: Uint8Array, at: number) => writeBodies(parts, measures, out, at);
  pieces.push(sectionHeader(SectionId.code, count.length + measures.totalBytes + added.length));
  const start = lengthOf(pieces);
  pieces.push(count);
  pieces.push({ length: measures.totalBytes, writeTo }, added.bytes.subarray(0, added.length));
  return start;
}

function untracedReferenceNote(module: Module, index: number): Note {
  const { module: from, name: field } = module.importedFunctions[index] as Import;
  const name = `${from}.${field}`;
  const message = `Calls of ${name} through a reference or a table are not traced: its declared type is open, so the function may have a subtype of it`;
  return { code: 'reference_not_traced', message, name };
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
  for (const writer of writers) addWritten(pieces, SectionId.custom, writer);
}

/** Usually more than needed: memory that is not written to costs nothing. */
function expectedNameBytes({ module, names, generated }: Parts): number {
  const ownBytes = names.section ? names.section.end - names.section.contentStart : 0;
  const exports = findSection(module.sections, SectionId.export);
  const exportBytes = exports ? exports.end - exports.contentStart : 0;
  return ownBytes + exportBytes + 16 * module.functionTypes.length + 64 * generated.length + 1024;
}
