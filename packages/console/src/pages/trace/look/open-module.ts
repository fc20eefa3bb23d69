import {
  describeModule,
  type FunctionSignature,
  InstrumentError,
  listFunctions,
  listProposals,
  type MemoryDescription,
  type ModuleDescription,
} from '@tenon/instrument';
import { createFunctionTable, type FunctionTable } from './function-table.ts';

/** A function that a module exports, and what it takes and gives, as the text format writes types. */
export interface CallableExport extends FunctionSignature {
  readonly name: string;
}

/** What a module asks of its host, by the module that it imports from. */
export interface ImportGroup {
  readonly module: string;
  readonly count: number;
  /** The first of them. */
  readonly names: readonly string[];
}

/** What there is to say of a module before it is run. */
export interface ModuleFacts {
  readonly bytes: number;
  /** Whether this engine takes it. */
  readonly isValid: boolean;
  readonly proposals: readonly string[];
  readonly functions: number;
  readonly importedFunctions: number;
  readonly memories: readonly MemoryDescription[];
  readonly imports: readonly ImportGroup[];
  /** How many groups there are beyond those in `imports`. */
  readonly moreImports: number;
  /** Exported functions, in the module's order. */
  readonly exports: readonly CallableExport[];
  readonly moreExports: number;
  /** Whether it reports its calls already. Then it can be run, but neither instrumented nor its functions chosen. */
  readonly isInstrumented: boolean;
  /** Why it can't be instrumented, where that is for another reason: `relocatable_object` or `unsupported_feature`. */
  readonly fault: string | undefined;
}

export interface OpenedModule {
  readonly facts: ModuleFacts;
  /** Empty where functions can't be chosen. */
  readonly table: FunctionTable;
}

/** So much of what a module may have a million of is handed on. */
const maxGroups = 50;
const maxGroupNames = 20;
const maxExports = 2_000;

/**
 * @param demangle writes a function's name as people do
 * @throws InstrumentError when it is no core module, or its structure is broken
 */
export function openModule(bytes: Uint8Array<ArrayBuffer>, demangle: (name: string) => string): OpenedModule {
  const description = describeModule(bytes);
  const listed = tryToList(bytes, demangle);
  const groups = groupImports(description);
  const exports = description.exports.flatMap(({ name, kind, type }) =>
    kind === 'function' && type !== undefined ? [{ name, ...type }] : [],
  );
  const isInstrumented = listed instanceof InstrumentError && listed.code === 'already_instrumented';
  const facts: ModuleFacts = {
    bytes: bytes.length,
    isValid: WebAssembly.validate(bytes),
    proposals: tryToListProposals(bytes),
    functions: description.functionCount,
    importedFunctions: description.imports.filter(({ kind }) => kind === 'function').length,
    memories: description.memories.slice(0, maxGroups),
    imports: groups.slice(0, maxGroups),
    moreImports: Math.max(0, groups.length - maxGroups),
    exports: exports.slice(0, maxExports),
    moreExports: Math.max(0, exports.length - maxExports),
    isInstrumented,
    fault: listed instanceof InstrumentError && !isInstrumented ? listed.message : undefined,
  };
  return { facts, table: listed instanceof InstrumentError ? createFunctionTable([]) : listed };
}

function tryToList(bytes: Uint8Array, demangle: (name: string) => string): FunctionTable | InstrumentError {
  try {
    return createFunctionTable(listFunctions(bytes).functions, demangle);
  } catch (error) {
    if (error instanceof InstrumentError) return error;
    throw error;
  }
}

/** Instructions that nobody knows are told when the module is instrumented. */
function tryToListProposals(bytes: Uint8Array): readonly string[] {
  try {
    return listProposals(bytes);
  } catch (error) {
    if (error instanceof InstrumentError) return [];
    throw error;
  }
}

function groupImports({ imports }: ModuleDescription): ImportGroup[] {
  const groups = new Map<string, { module: string; count: number; names: string[] }>();
  for (const { module, name } of imports) {
    const group = groups.get(module) ?? { module, count: 0, names: [] };
    groups.set(module, group);
    group.count += 1;
    if (group.names.length < maxGroupNames) group.names.push(name);
  }
  return [...groups.values()];
}
