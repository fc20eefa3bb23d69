import { InstrumentError, invalidModule, limitExceeded } from '../errors.ts';
import { maxFunctions, maxMemories } from '../limits.ts';
import { type Export, readExports } from './exports.ts';
import { type ExternalKind, type Import, readFunctionTypeIndex, readImports, readTagType } from './imports.ts';
import { type ByteReader, expectEnd, readCount, readU32 } from './reader.ts';
import { readSections, type Section, SectionId, sectionReader } from './sections.ts';
import { i32Type, i64Type, type Limits, readLimits, readTypes, type TypeSpace } from './types.ts';
import type { ValidationCost } from './validation-cost.ts';

export interface Memory extends Limits {
  readonly isImported: boolean;
  readonly isExported: boolean;
}

/** The declarations of a module: everything but code and data. */
export interface Module {
  readonly bytes: Uint8Array;
  readonly sections: readonly Section[];
  readonly types: TypeSpace;
  readonly imports: readonly Import[];
  readonly importedFunctions: readonly Import[];
  /** The function index space: the type of each function, imports first. */
  readonly functionTypes: Uint32Array;
  readonly memories: readonly Memory[];
  readonly tableCount: number;
  readonly globalCount: number;
  readonly tagCount: number;
  readonly exports: readonly Export[];
  /** Accumulates while code and constant expressions are read. */
  readonly cost: ValidationCost;
}

/** Reads all declarations of a module, and checks that their indices exist. */
export function readModule(bytes: Uint8Array): Module {
  const sections = readSections(bytes);
  const readerOf = (id: number) => sectionReader(bytes, sections, id);
  const { types, widths } = readTypes(readerOf(SectionId.type));
  const imports = readImports(readerOf(SectionId.import), types);
  const imported = (kind: ExternalKind) => imports.filter((entry) => entry.kind === kind);
  const importedMemories = imports.flatMap((entry) => (entry.kind === 'memory' ? [entry.limits] : []));
  const typesOf = (kind: 'function' | 'tag') =>
    imports.flatMap((entry) => (entry.kind === kind && 'typeIndex' in entry ? [entry.typeIndex] : []));
  const functionTypes = readFunctionTypes(readerOf(SectionId.function), types, typesOf('function'));
  const limits = [...importedMemories, ...readMemories(readerOf(SectionId.memory))];
  const tableCount = imported('table').length + readEntryCount(readerOf(SectionId.table));
  const globalCount = imported('global').length + readEntryCount(readerOf(SectionId.global));
  const tagTypes = [...typesOf('tag'), ...readTagTypes(readerOf(SectionId.tag))];
  const exports = readExports(readerOf(SectionId.export), {
    function: functionTypes.length,
    table: tableCount,
    memory: limits.length,
    global: globalCount,
    tag: tagTypes.length,
  });
  const exportedMemories = new Set(exports.filter(({ kind }) => kind === 'memory').map(({ index }) => index));
  checkStart(readerOf(SectionId.start), functionTypes.length);
  return {
    bytes,
    sections,
    types,
    imports,
    importedFunctions: imported('function'),
    functionTypes,
    memories: limits.map((own, index) => ({
      ...own,
      isImported: index < importedMemories.length,
      isExported: exportedMemories.has(index),
    })),
    tableCount,
    globalCount,
    tagCount: tagTypes.length,
    exports,
    cost: {
      typeWidths: widths,
      widestTag: tagTypes.reduce((most, type) => Math.max(most, widths[type] ?? 0), 0),
      checkedValues: 0,
    },
  };
}

/** The type of addresses in the first memory, the one that allocators manage. */
export function memoryAddressType({ memories }: Module): number {
  return memories[0]?.is64 ? i64Type : i32Type;
}

/** Whether a `memory.grow` by at least one page can succeed. */
export function canGrow(memory: Memory): boolean {
  return memory.maximum === undefined || memory.maximum > memory.minimum;
}

/** The number of types that a module declares; 0 if they can't be read. Reads nothing else. */
export function countTypes(bytes: Uint8Array): number {
  try {
    return readTypes(sectionReader(bytes, readSections(bytes), SectionId.type)).types.length;
  } catch (error) {
    if (error instanceof InstrumentError) return 0;
    throw error;
  }
}

/** The number of entries that a section begins with; 0 without the section. */
function readEntryCount(reader: ByteReader | undefined): number {
  return reader === undefined ? 0 : readCount(reader, 'the number of entries', 2);
}

function readTagTypes(reader: ByteReader | undefined): number[] {
  return Array.from({ length: readEntryCount(reader) }, () => readTagType(reader as ByteReader));
}

function readFunctionTypes(reader: ByteReader | undefined, types: TypeSpace, imported: readonly number[]): Uint32Array {
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

function readMemories(reader: ByteReader | undefined): Limits[] {
  if (reader === undefined) return [];
  const count = readCount(reader, 'the number of memories', 2);
  if (count > maxMemories) throw limitExceeded('memories', count, maxMemories, reader.offset);
  const memories = Array.from({ length: count }, () => readLimits(reader, 'a memory'));
  expectEnd(reader, 'the memory section');
  return memories;
}

function checkStart(reader: ByteReader | undefined, functionCount: number): void {
  if (reader === undefined) return;
  const offset = reader.offset;
  const index = readU32(reader, 'the index of the start function');
  if (index >= functionCount) throw invalidModule(`Expected the index of a function, found ${index}`, offset);
  expectEnd(reader, 'the start section');
}
