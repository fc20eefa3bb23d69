import { readBodyBounds } from './binary/code.ts';
import { exportName } from './binary/exports.ts';
import { type ExternalKind, isHook } from './binary/imports.ts';
import { type Memory, type Module, readModule } from './binary/module.ts';
import { describeFunctionType } from './binary/types.ts';

/** Parameters and results as the text format writes them: `i32`, `externref`, `(ref null 3)`. */
export interface FunctionSignature {
  readonly params: readonly string[];
  readonly results: readonly string[];
}

export interface ImportDescription {
  readonly module: string;
  readonly name: string;
  readonly kind: ExternalKind;
  /** For a function. */
  readonly type?: FunctionSignature;
}

export interface ExportDescription {
  readonly name: string;
  readonly kind: ExternalKind;
  /** For a function. */
  readonly type?: FunctionSignature;
}

/** A memory as it is declared. */
export interface MemoryDescription {
  /** Initial and maximum size in pages of `pageBytes`. */
  readonly minimumPages: number;
  readonly maximumPages?: number;
  /** 65,536 by default: https://github.com/WebAssembly/custom-page-sizes */
  readonly pageBytes: number;
  readonly isImported: boolean;
  readonly isExported: boolean;
  readonly isShared: boolean;
}

/** The imports and exports of a module, in the module's order. */
export interface ModuleDescription {
  readonly imports: readonly ImportDescription[];
  readonly exports: readonly ExportDescription[];
  /** The memory index space, imports first. */
  readonly memories: readonly MemoryDescription[];
  /** Size of the function index space, imports included. */
  readonly functionCount: number;
}

/**
 * Checks the structure of a core module (preamble, sections and their order and sizes, types, imports, functions,
 * memories, exports, sizes of function bodies) and returns its imports and exports. Leaves instructions to an
 * engine's validation.
 *
 * Throws an {@link InstrumentError}: `not_wasm`, `component_not_supported`, `invalid_module` or `unsupported_feature`,
 * with the byte offset.
 */
export function describeModule(bytes: Uint8Array): ModuleDescription {
  const module = readModule(bytes);
  readBodyBounds(module);
  return describe(module);
}

/** The description of a module whose structure has been checked. */
export function describe(module: Module): ModuleDescription {
  let functionIndex = 0;
  const imports = module.imports.map(({ module: from, name, kind }): ImportDescription => {
    if (kind !== 'function') return { module: from, name, kind };
    return { module: from, name, kind, type: signatureOf(module, functionIndex++) };
  });
  const exports = module.exports.map((entry): ExportDescription => {
    const { kind, index } = entry;
    const name = exportName(module, entry);
    return kind === 'function' ? { name, kind, type: signatureOf(module, index) } : { name, kind };
  });
  const memories = module.memories.map(describeMemory);
  return { imports, exports, memories, functionCount: module.functionTypes.length };
}

/** Whether a module reports its calls already, because it imports a function for that. */
export function isInstrumented({ imports }: Pick<ModuleDescription, 'imports'>): boolean {
  return imports.some(isHook);
}

function describeMemory(memory: Memory): MemoryDescription {
  const { minimum: minimumPages, maximum: maximumPages, pageSizeLog2, isImported, isExported, isShared } = memory;
  const maximum = maximumPages === undefined ? {} : { maximumPages };
  return { minimumPages, ...maximum, pageBytes: 2 ** pageSizeLog2, isImported, isExported, isShared };
}

function signatureOf(module: Module, functionIndex: number): FunctionSignature {
  const type = module.types[module.functionTypes[functionIndex] as number];
  return type ? describeFunctionType(module.bytes, type) : { params: [], results: [] };
}
