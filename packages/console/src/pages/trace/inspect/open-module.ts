import {
  describeModule,
  type FunctionSignature,
  InstrumentError,
  isInstrumented,
  listFunctions,
  listProposals,
  type MemoryDescription,
  type ModuleDescription,
} from '@tenon/instrument';
import { missingImports, usesExtism, usesWasi } from '@tenon/run-kit';
import { createFunctionTable, type FunctionTable } from './function-table.ts';

/** An exported function, with types as in the text format. */
export interface CallableExport extends FunctionSignature {
  readonly name: string;
}

/** Imports by the module that they name. */
export interface ImportGroup {
  readonly module: string;
  readonly count: number;
  /** The first of them. */
  readonly names: readonly string[];
}

/** A description of a module. */
export interface ModuleFacts {
  readonly bytes: number;
  /** Whether this engine accepts it. */
  readonly isValid: boolean;
  readonly proposals: readonly string[];
  readonly functions: number;
  readonly importedFunctions: number;
  readonly memories: readonly MemoryDescription[];
  readonly imports: readonly ImportGroup[];
  /** Number of groups beyond those in `imports`. */
  readonly moreImports: number;
  readonly usesWasi: boolean;
  readonly usesExtism: boolean;
  /** The first functions that this page can't provide, as `module.name`. */
  readonly missingFunctions: readonly string[];
  /** Exported functions, in the module's order. */
  readonly exports: readonly CallableExport[];
  readonly moreExports: number;
  /** Whether it reports its calls already. Such a module can be run but not instrumented. */
  readonly isInstrumented: boolean;
  /** Another reason why it can't be instrumented. */
  readonly fault: string | undefined;
}

export interface OpenedModule {
  readonly facts: ModuleFacts;
  /** Empty if the module can't be instrumented. */
  readonly table: FunctionTable;
}

/** Limits for what a module may have a million of. */
const maxGroups = 50;
const maxGroupNames = 20;
const maxExports = 2_000;

/**
 * @throws InstrumentError for anything but a core module with a valid structure
 */
export function openModule(bytes: Uint8Array<ArrayBuffer>, demangle: (name: string) => string): OpenedModule {
  const description = describeModule(bytes);
  const listed = tryToList(bytes, demangle);
  const groups = groupImports(description);
  const exports = description.exports.flatMap(({ name, kind, type }) =>
    kind === 'function' && type !== undefined ? [{ name, ...type }] : [],
  );
  const isTraced = isInstrumented(description);
  const facts: ModuleFacts = {
    bytes: bytes.length,
    isValid: WebAssembly.validate(bytes),
    proposals: tryToListProposals(bytes),
    functions: description.functionCount,
    importedFunctions: description.imports.filter(({ kind }) => kind === 'function').length,
    memories: description.memories.slice(0, maxGroups),
    imports: groups.slice(0, maxGroups),
    moreImports: Math.max(0, groups.length - maxGroups),
    usesWasi: usesWasi(description.imports),
    usesExtism: usesExtism(description.imports),
    missingFunctions: missingImports(description.imports)
      .filter(({ kind }) => kind === 'function')
      .slice(0, maxGroupNames)
      .map(({ module, name }) => `${module}.${name}`),
    exports: exports.slice(0, maxExports),
    moreExports: Math.max(0, exports.length - maxExports),
    isInstrumented: isTraced,
    fault: listed instanceof InstrumentError && !isTraced ? listed.message : undefined,
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

/** Unknown instructions are reported by the instrumenter. */
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
