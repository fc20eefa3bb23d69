import { invalidModule, limitExceeded, unsupportedFeature } from '../errors.ts';
import { maxImports } from '../limits.ts';
import { type ByteReader, expectEnd, readByte, readCount, readName, readU32 } from './reader.ts';
import {
  type GlobalType,
  type Limits,
  readGlobalType,
  readLimits,
  readTableType,
  type TableType,
  type TypeSpace,
} from './types.ts';

/** Kinds of imports and exports, by their number in the binary format. */
const externalKinds = ['function', 'table', 'memory', 'global', 'tag'] as const;
export type ExternalKind = (typeof externalKinds)[number];

/** An import with its type. */
export type Import = ImportType & {
  readonly module: string;
  readonly name: string;
  readonly offset: number;
};

type ImportType =
  | { readonly kind: 'function' | 'tag'; readonly typeIndex: number }
  | { readonly kind: 'table'; readonly table: TableType }
  | { readonly kind: 'memory'; readonly limits: Limits }
  | { readonly kind: 'global'; readonly global: GlobalType };

/** The import module of the functions that instrumented modules call. */
export const hookModule = 'dylibso:observe/instrument';
/** The import module of functions that modules with further options call. */
export const extraHookModule = 'tenon:instrument';

const olderModule = 'dylibso_observe';

/** A function that instrumented modules call, under its current or an older name. */
export function isHook({ module, name }: { readonly module: string; readonly name: string }): boolean {
  return (
    module === hookModule || module === extraHookModule || (module === olderModule && name.startsWith('instrument_'))
  );
}

/**
 * The manual tracing API, under its current and an older name. It isn't traced: an automatic `exit` after a manual
 * `span-enter` would close the wrong span.
 */
export function isManualApi(entry: Import): boolean {
  return entry.module === 'dylibso:observe/api' || entry.module === olderModule;
}

/** Functions that the engine provides, such as `wasm:js-string`; engines compile calls of them to instructions. */
export function isBuiltin(entry: Import): boolean {
  return entry.module.startsWith('wasm:');
}

/** https://webassembly.github.io/spec/core/binary/modules.html#import-section */
export function readImports(reader: ByteReader | undefined, types: TypeSpace): Import[] {
  if (reader === undefined) return [];
  const count = readCount(reader, 'the number of imports', 4);
  if (count > maxImports) throw limitExceeded('imports', count, maxImports, reader.offset);
  const imports: Import[] = [];
  for (let index = 0; index < count; index++) imports.push(readImport(reader, types));
  expectEnd(reader, 'the import section');
  return imports;
}

function readImport(reader: ByteReader, types: TypeSpace): Import {
  const { offset } = reader;
  const module = readName(reader, "an import's module");
  const name = readName(reader, "an import's name");
  const kind = readExternalKind(reader);
  if (kind === 'function') return { module, name, kind, offset, typeIndex: readFunctionTypeIndex(reader, types) };
  if (kind === 'table') return { module, name, kind, offset, table: readTableType(reader) };
  if (kind === 'memory') return { module, name, kind, offset, limits: readLimits(reader, 'a memory') };
  if (kind === 'global') return { module, name, kind, offset, global: readGlobalType(reader) };
  return { module, name, kind, offset, typeIndex: readTagType(reader) };
}

export function readExternalKind(reader: ByteReader): ExternalKind {
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

export function readFunctionTypeIndex(reader: ByteReader, types: TypeSpace): number {
  const offset = reader.offset;
  const index = readU32(reader, "a function's type");
  if (index >= types.length) throw invalidModule(`Expected one of ${types.length} types, found type ${index}`, offset);
  if (types[index] === null) throw invalidModule(`Expected a function type, found type ${index}`, offset);
  return index;
}

export function readTagType(reader: ByteReader): number {
  readByte(reader, "a tag's attribute");
  return readU32(reader, "a tag's type");
}
