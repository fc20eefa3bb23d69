import { InstrumentError, invalidModule, limitExceeded, unsupportedFeature } from '../errors.ts';
import { maxExports, maxFunctions, maxImports, maxMemories } from '../limits.ts';
import { createNameSet } from './name-set.ts';
import {
  type ByteReader,
  decodeUtf8,
  expectEnd,
  readByte,
  readCount,
  readerOver,
  readName,
  readU32,
  skipBytes,
  skipName,
} from './reader.ts';
import { findSection, readSections, type Section, SectionId } from './sections.ts';
import { type Limits, readLimits, readTypes, readValueType, type TypeSpace } from './types.ts';
import type { ValidationCost } from './validation-cost.ts';

/** Kinds of imports and exports, at the index that the binary format gives them. */
export const externalKinds = ['function', 'table', 'memory', 'global', 'tag'] as const;
export type ExternalKind = (typeof externalKinds)[number];

export interface Import {
  readonly module: string;
  readonly name: string;
  readonly kind: ExternalKind;
  readonly offset: number;
}

export interface Export {
  /** Where its name lies in the module. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly kind: ExternalKind;
  readonly index: number;
  /** Where the index stands, and where the entry ends. */
  readonly indexStart: number;
  readonly end: number;
}

/** The name of an export, which was checked when it was read. */
export function exportName({ bytes }: Module, { nameStart, nameEnd }: Export): string {
  return decodeUtf8(bytes, nameStart, nameEnd) ?? '';
}

export interface Memory extends Limits {
  readonly isImported: boolean;
  readonly isExported: boolean;
}

/** What the rewriter has to know about a module before it looks at the code. */
export interface Module {
  readonly bytes: Uint8Array;
  readonly sections: readonly Section[];
  readonly types: TypeSpace;
  readonly imports: readonly Import[];
  readonly importedFunctions: readonly Import[];
  /** The function index space: the type of each function, imports first. */
  readonly functionTypes: Uint32Array;
  readonly memories: readonly Memory[];
  readonly globalCount: number;
  readonly tagCount: number;
  readonly exports: readonly Export[];
  /** Counted while the code and the constant expressions are read. */
  readonly cost: ValidationCost;
}

/** Reads all declarations of a module, and checks that their indices exist. */
export function readModule(bytes: Uint8Array): Module {
  const sections = readSections(bytes);
  const { types, widths } = readTypes(bytes, findSection(sections, SectionId.type));
  const {
    imports,
    functionTypes: importedTypes,
    memories: importedMemories,
    tagTypes,
  } = readImports(bytes, sections, types);
  const count = (kind: ExternalKind) => imports.filter((entry) => entry.kind === kind).length;
  const importedFunctions = imports.filter((entry) => entry.kind === 'function');
  const functionTypes = readFunctionTypes(bytes, sections, types, importedTypes);
  const ownMemories = readMemories(bytes, sections);
  const globalCount = count('global') + readLeadingCount(bytes, sections, SectionId.global);
  const tagCount = count('tag') + readLeadingCount(bytes, sections, SectionId.tag);
  const spaces: Record<ExternalKind, number> = {
    function: functionTypes.length,
    table: count('table') + readLeadingCount(bytes, sections, SectionId.table),
    memory: importedMemories.length + ownMemories.length,
    global: globalCount,
    tag: tagCount,
  };
  const exports = readExports(bytes, sections, spaces);
  const exportedMemories = new Set(exports.filter(({ kind }) => kind === 'memory').map(({ index }) => index));
  const memories = [...importedMemories, ...ownMemories].map((limits, index) => ({
    ...limits,
    isImported: index < importedMemories.length,
    isExported: exportedMemories.has(index),
  }));
  checkStart(bytes, sections, functionTypes.length);
  const widthOf = (type: number) => widths[type] ?? 0;
  const widestTag = [...tagTypes, ...readTagTypes(bytes, sections)].reduce(
    (most, type) => Math.max(most, widthOf(type)),
    0,
  );
  return {
    bytes,
    sections,
    types,
    imports,
    importedFunctions,
    functionTypes,
    memories,
    globalCount,
    tagCount,
    exports,
    cost: { typeWidths: widths, widestTag, checkedValues: 0 },
  };
}

/** How many types a module declares; 0 where that can't be read. Nothing else is looked at. */
export function countTypes(bytes: Uint8Array): number {
  try {
    return readTypes(bytes, findSection(readSections(bytes), SectionId.type)).types.length;
  } catch (error) {
    if (error instanceof InstrumentError) return 0;
    throw error;
  }
}

function sectionReader(bytes: Uint8Array, sections: readonly Section[], id: number): ByteReader | undefined {
  const section = findSection(sections, id);
  return section && readerOver(bytes, section.contentStart, section.end);
}

function readLeadingCount(bytes: Uint8Array, sections: readonly Section[], id: number): number {
  const reader = sectionReader(bytes, sections, id);
  return reader === undefined ? 0 : readCount(reader, 'the number of entries', 2);
}

function readImports(bytes: Uint8Array, sections: readonly Section[], types: TypeSpace) {
  const imports: Import[] = [];
  const functionTypes: number[] = [];
  const memories: Limits[] = [];
  const tagTypes = new Set<number>();
  const reader = sectionReader(bytes, sections, SectionId.import);
  if (reader === undefined) return { imports, functionTypes, memories, tagTypes };
  const importCount = readCount(reader, 'the number of imports', 4);
  if (importCount > maxImports) throw limitExceeded('imports', importCount, maxImports, reader.offset);
  for (let index = 0; index < importCount; index++) {
    const offset = reader.offset;
    const module = readName(reader, "an import's module");
    const name = readName(reader, "an import's name");
    const kind = readKind(reader);
    imports.push({ module, name, kind, offset });
    if (kind === 'function') functionTypes.push(readFunctionTypeIndex(reader, types));
    else if (kind === 'memory') memories.push(readLimits(reader, 'a memory'));
    else if (kind === 'tag') tagTypes.add(readTagType(reader));
    else skipImportType(reader, kind);
  }
  expectEnd(reader, 'the import section');
  return { imports, functionTypes, memories, tagTypes };
}

function readKind(reader: ByteReader): ExternalKind {
  const offset = reader.offset;
  const byte = readByte(reader, 'the kind of an import or export');
  const kind = externalKinds[byte];
  if (kind !== undefined) return kind;
  if (byte === 0x20) throw unsupportedFeature('the custom descriptors proposal', 'Found an exact import', offset);
  if (byte === 0x7e || byte === 0x7f) {
    throw unsupportedFeature('the compact import section proposal', 'Found a group of imports', offset);
  }
  throw invalidModule(`Expected a kind of import or export from 0 to 4, found ${byte}`, offset);
}

function skipImportType(reader: ByteReader, kind: 'table' | 'global'): void {
  if (kind === 'table') {
    readValueType(reader);
    readLimits(reader, 'a table');
  } else {
    readValueType(reader);
    readByte(reader, "a global's mutability");
  }
}

function readTagType(reader: ByteReader): number {
  readByte(reader, "a tag's attribute");
  return readU32(reader, "a tag's type");
}

/** The types that the module's own tags have. */
function readTagTypes(bytes: Uint8Array, sections: readonly Section[]): Set<number> {
  const types = new Set<number>();
  const reader = sectionReader(bytes, sections, SectionId.tag);
  const count = reader === undefined ? 0 : readCount(reader, 'the number of tags', 2);
  for (let tag = 0; reader !== undefined && tag < count; tag++) types.add(readTagType(reader));
  return types;
}

function readFunctionTypeIndex(reader: ByteReader, types: TypeSpace): number {
  const offset = reader.offset;
  const index = readU32(reader, "a function's type");
  if (index >= types.length) throw invalidModule(`Expected one of ${types.length} types, found type ${index}`, offset);
  if (types[index] === null) throw invalidModule(`Expected a function type, found type ${index}`, offset);
  return index;
}

function readFunctionTypes(
  bytes: Uint8Array,
  sections: readonly Section[],
  types: TypeSpace,
  imported: readonly number[],
): Uint32Array {
  const reader = sectionReader(bytes, sections, SectionId.function);
  const ownCount = reader === undefined ? 0 : readCount(reader, 'the number of functions');
  const total = imported.length + ownCount;
  if (total > maxFunctions) throw limitExceeded('functions', total, maxFunctions, reader?.offset ?? 0);
  const functionTypes = new Uint32Array(total);
  functionTypes.set(imported);
  if (reader === undefined) return functionTypes;
  for (let index = imported.length; index < total; index++) functionTypes[index] = readFunctionTypeIndex(reader, types);
  expectEnd(reader, 'the function section');
  return functionTypes;
}

function readMemories(bytes: Uint8Array, sections: readonly Section[]): Limits[] {
  const reader = sectionReader(bytes, sections, SectionId.memory);
  if (reader === undefined) return [];
  const count = readCount(reader, 'the number of memories', 2);
  if (count > maxMemories) throw limitExceeded('memories', count, maxMemories, reader.offset);
  const memories = Array.from({ length: count }, () => readLimits(reader, 'a memory'));
  expectEnd(reader, 'the memory section');
  return memories;
}

function readExports(bytes: Uint8Array, sections: readonly Section[], spaces: Record<ExternalKind, number>): Export[] {
  const reader = sectionReader(bytes, sections, SectionId.export);
  if (reader === undefined) return [];
  const exports: Export[] = [];
  const exportCount = readCount(reader, 'the number of exports', 3);
  if (exportCount > maxExports) throw limitExceeded('exports', exportCount, maxExports, reader.offset);
  const names = createNameSet(bytes, exportCount);
  for (let entry = 0; entry < exportCount; entry++) {
    const start = reader.offset;
    const nameStart = skipName(reader, "an export's name");
    const nameEnd = reader.offset;
    if (!names.add(nameStart, nameEnd)) {
      const name = JSON.stringify(decodeUtf8(bytes, nameStart, nameEnd));
      throw invalidModule(`Expected export names to differ, found ${name} twice`, start);
    }
    const kind = readKind(reader);
    const indexStart = reader.offset;
    const index = readU32(reader, "an export's index");
    if (index >= spaces[kind]) {
      throw invalidModule(`Expected one of ${spaces[kind]} ${kind} indices, found ${index}`, indexStart);
    }
    exports.push({ nameStart, nameEnd, kind, index, indexStart, end: reader.offset });
  }
  expectEnd(reader, 'the export section');
  return exports;
}

function checkStart(bytes: Uint8Array, sections: readonly Section[], functionCount: number): void {
  const reader = sectionReader(bytes, sections, SectionId.start);
  if (reader === undefined) return;
  const offset = reader.offset;
  const index = readU32(reader, 'the index of the start function');
  if (index >= functionCount) throw invalidModule(`Expected the index of a function, found ${index}`, offset);
  expectEnd(reader, 'the start section');
}

/**
 * The bounds of every function body in the code section, as pairs: `[start, end)` without the size.
 * Checks that there are as many as the function section declares.
 */
export function readBodyBounds(module: Module): Uint32Array {
  const ownCount = module.functionTypes.length - module.importedFunctions.length;
  const reader = sectionReader(module.bytes, module.sections, SectionId.code);
  if (reader === undefined) {
    if (ownCount === 0) return new Uint32Array(0);
    throw invalidModule(`Expected ${ownCount} function bodies, found no code section`, module.bytes.length);
  }
  const start = reader.offset;
  const bodyCount = readCount(reader, 'the number of function bodies', 2);
  if (bodyCount !== ownCount) throw invalidModule(`Expected ${ownCount} function bodies, found ${bodyCount}`, start);
  const bounds = new Uint32Array(2 * bodyCount);
  for (let index = 0; index < bodyCount; index++) {
    const size = readU32(reader, "a function body's size");
    bounds[2 * index] = reader.offset;
    skipBytes(reader, size, 'a function body');
    bounds[2 * index + 1] = reader.offset;
  }
  expectEnd(reader, 'the code section');
  return bounds;
}
