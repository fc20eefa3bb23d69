import { invalidModule, limitExceeded, unsupportedFeature } from '../errors.ts';
import { maxTypes } from '../limits.ts';
import { type ByteReader, expectEnd, readByte, readCount, readerOver, readS33, readU32, readU64 } from './reader.ts';

/** A function type, with the bounds of its parameters and results in the module. */
export interface FunctionType {
  readonly parametersStart: number;
  readonly parameterCount: number;
  readonly resultsStart: number;
  readonly resultCount: number;
  readonly end: number;
  /** A final type without supertypes, alone in its recursion group, as in MVP. */
  readonly isPlain: boolean;
  /** Whether it may have subtypes, so that a function of this type may have one of them. */
  readonly isOpen: boolean;
}

/** The type index space: a function type, or null for a structure or array. */
export type TypeSpace = readonly (FunctionType | null)[];

/** The types of a module, and the number of values in each: parameters and results, or fields; 0 for an array. */
export interface Types {
  readonly types: TypeSpace;
  readonly widths: Uint32Array;
}

/** Value types that the rewriter writes. */
export const i32Type = 0x7f;
export const i64Type = 0x7e;
export const f64Type = 0x7c;
export const exnrefType = 0x69;

/** Value types of one byte. https://webassembly.github.io/spec/core/binary/types.html */
const valueTypeNames: Readonly<Record<number, string>> = {
  0x7f: 'i32',
  0x7e: 'i64',
  0x7d: 'f32',
  0x7c: 'f64',
  0x7b: 'v128',
  0x74: 'nullexnref',
  0x73: 'nullfuncref',
  0x72: 'nullexternref',
  0x71: 'nullref',
  0x70: 'funcref',
  0x6f: 'externref',
  0x6e: 'anyref',
  0x6d: 'eqref',
  0x6c: 'i31ref',
  0x6b: 'structref',
  0x6a: 'arrayref',
  0x69: 'exnref',
};

const heapTypeNames: Readonly<Record<number, string>> = {
  0x74: 'noexn',
  0x73: 'nofunc',
  0x72: 'noextern',
  0x71: 'none',
  0x70: 'func',
  0x6f: 'extern',
  0x6e: 'any',
  0x6d: 'eq',
  0x6c: 'i31',
  0x6b: 'struct',
  0x6a: 'array',
  0x69: 'exn',
};

const refusedTypeBytes: Readonly<Record<number, string>> = {
  0x75: 'the stack switching proposal',
  0x68: 'the stack switching proposal',
  0x67: 'the string reference proposal',
  0x66: 'the string reference proposal',
  0x65: 'the shared-everything threads proposal',
  0x62: 'the custom descriptors proposal',
  0x61: 'the string reference proposal',
  0x5d: 'the stack switching proposal',
  0x4d: 'the custom descriptors proposal',
  0x4c: 'the custom descriptors proposal',
};

/** Reads a value type and returns it as the text format writes it. */
export function readValueType(reader: ByteReader): string {
  const start = reader.offset;
  const byte = readByte(reader, 'a value type');
  const name = valueTypeNames[byte];
  if (name !== undefined) return name;
  if (byte === 0x64) return `(ref ${readHeapType(reader)})`;
  if (byte === 0x63) return `(ref null ${readHeapType(reader)})`;
  throw unknownType(byte, 'a value type', start);
}

/** Reads a heap type and returns it as the text format writes it. */
export function readHeapType(reader: ByteReader): string {
  const start = reader.offset;
  const value = readS33(reader, 'a heap type');
  if (value >= 0) return String(value);
  const name = value >= -64 ? heapTypeNames[value & 0x7f] : undefined;
  if (name === undefined) throw unknownType(value & 0x7f, 'a heap type', start);
  return name;
}

/** An error for an unknown type, which names its proposal if that is known. */
export function unknownType(byte: number, what: string, offset: number, functionIndex?: number): Error {
  const feature = refusedTypeBytes[byte];
  const found = `0x${byte.toString(16).padStart(2, '0')}`;
  if (feature !== undefined) return unsupportedFeature(feature, `Found type ${found}`, offset, functionIndex);
  return invalidModule(`Expected ${what}, found ${found}`, offset, functionIndex);
}

/** 1 for each value type of one byte, by that byte. */
export const isShortValueType: Uint8Array = flagsOf(valueTypeNames);
/** 1 for each abstract heap type, by its byte. */
export const isAbstractHeapType: Uint8Array = flagsOf(heapTypeNames);

function flagsOf(names: Readonly<Record<number, string>>): Uint8Array {
  return Uint8Array.from({ length: 0x100 }, (_, byte) => (names[byte] === undefined ? 0 : 1));
}

/** Reads the type section. Skips structures and arrays, which take indices too. */
export function readTypes(reader: ByteReader | undefined): Types {
  if (reader === undefined) return { types: [], widths: new Uint32Array() };
  const types: (FunctionType | null)[] = [];
  const fieldCounts: number[] = [];
  const groupCount = readCount(reader, 'the number of types');
  for (let group = 0; group < groupCount; group++) {
    if (reader.bytes[reader.offset] === 0x4e && reader.offset < reader.end) {
      reader.offset++;
      const count = readCount(reader, 'the number of types in a recursion group');
      for (let index = 0; index < count; index++)
        addType(types, fieldCounts, readSubType(reader, false), reader.offset);
    } else {
      addType(types, fieldCounts, readSubType(reader, true), reader.offset);
    }
  }
  expectEnd(reader, 'the type section');
  const widths = Uint32Array.from(types, (type, index) =>
    type === null ? (fieldCounts[index] as number) : type.parameterCount + type.resultCount,
  );
  return { types, widths };
}

function addType(
  types: (FunctionType | null)[],
  fieldCounts: number[],
  type: FunctionType | number,
  offset: number,
): void {
  types.push(typeof type === 'number' ? null : type);
  fieldCounts.push(typeof type === 'number' ? type : 0);
  if (types.length > maxTypes) throw limitExceeded('types', types.length, maxTypes, offset);
}

/** Reads a type: a function type, or the number of a structure's fields. */
function readSubType(reader: ByteReader, isAlone: boolean): FunctionType | number {
  const byte = reader.bytes[reader.offset];
  if (byte !== 0x50 && byte !== 0x4f) return readCompositeType(reader, isAlone, false);
  reader.offset++;
  const supertypeCount = readCount(reader, 'the number of supertypes');
  for (let index = 0; index < supertypeCount; index++) readU32(reader, 'a supertype');
  return readCompositeType(reader, false, byte === 0x50);
}

function readCompositeType(reader: ByteReader, isPlain: boolean, isOpen: boolean): FunctionType | number {
  const start = reader.offset;
  const byte = readByte(reader, 'a type');
  if (byte === 0x60) return readFunctionType(reader, isPlain, isOpen);
  if (byte === 0x5e) {
    readFieldType(reader);
    return 0;
  }
  if (byte === 0x5f) {
    const fieldCount = readCount(reader, 'the number of fields', 2);
    for (let index = 0; index < fieldCount; index++) readFieldType(reader);
    return fieldCount;
  }
  throw unknownType(byte, 'a function, structure or array type', start);
}

function readFunctionType(reader: ByteReader, isPlain: boolean, isOpen: boolean): FunctionType {
  const parameterCount = readCount(reader, 'the number of parameters');
  const parametersStart = reader.offset;
  for (let index = 0; index < parameterCount; index++) readValueType(reader);
  const resultCount = readCount(reader, 'the number of results');
  const resultsStart = reader.offset;
  for (let index = 0; index < resultCount; index++) readValueType(reader);
  return { parametersStart, parameterCount, resultsStart, resultCount, end: reader.offset, isPlain, isOpen };
}

function readFieldType(reader: ByteReader): void {
  const byte = reader.bytes[reader.offset];
  if (byte === 0x78 || byte === 0x77) reader.offset++;
  else readValueType(reader);
  const start = reader.offset;
  const mutability = readByte(reader, "a field's mutability");
  if (mutability > 1) throw invalidModule(`Expected a mutability of 0 or 1, found ${mutability}`, start);
}

/** The limits of a table or memory. https://webassembly.github.io/spec/core/binary/types.html#limits */
export interface Limits {
  readonly minimum: number;
  readonly maximum: number | undefined;
  readonly isShared: boolean;
  readonly is64: boolean;
  /** log2 of the page size of a memory: 16 without the custom page sizes proposal. */
  readonly pageSizeLog2: number;
}

export interface TableType {
  readonly elementType: string;
  readonly limits: Limits;
}

export function readTableType(reader: ByteReader): TableType {
  return { elementType: readValueType(reader), limits: readLimits(reader, 'a table') };
}

export interface GlobalType {
  readonly valueType: string;
  readonly isMutable: boolean;
}

export function readGlobalType(reader: ByteReader): GlobalType {
  return { valueType: readValueType(reader), isMutable: readByte(reader, "a global's mutability") === 1 };
}

/** Reads limits, with the flags of shared memories, 64-bit addresses and custom page sizes. */
export function readLimits(reader: ByteReader, what: string): Limits {
  const start = reader.offset;
  const flags = readByte(reader, `the limits of ${what}`);
  if (flags > 0x0f) throw invalidModule(`Expected flags of limits from 0 to 15, found ${flags}`, start);
  const minimum = readU64(reader, `the minimum of ${what}`);
  const maximum = flags & 1 ? readU64(reader, `the maximum of ${what}`) : undefined;
  const pageSizeLog2 = flags & 8 ? readU32(reader, 'a page size') : 16;
  if (pageSizeLog2 > 16) throw invalidModule(`Expected a page size of at most 2^16, found 2^${pageSizeLog2}`, start);
  return { minimum, maximum, isShared: (flags & 2) !== 0, is64: (flags & 4) !== 0, pageSizeLog2 };
}

/** A function type's parameters and results as the text format writes them. */
export function describeFunctionType(bytes: Uint8Array, type: FunctionType): { params: string[]; results: string[] } {
  return {
    params: readValueTypes(bytes, type.parametersStart, type.parameterCount),
    results: readValueTypes(bytes, type.resultsStart, type.resultCount),
  };
}

function readValueTypes(bytes: Uint8Array, start: number, count: number): string[] {
  const reader = readerOver(bytes, start);
  return Array.from({ length: count }, () => readValueType(reader));
}
