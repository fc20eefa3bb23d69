import { isBuiltin, isManualApi } from '../binary/imports.ts';
import { canGrow, type Module } from '../binary/module.ts';
import type { ExceptionHandling } from '../scan/cursor.ts';

/** The module from which an instrumented module imports its hooks. */
export const hookModule = 'dylibso:observe/instrument';

/** What the code had to be read for. */
interface CodeFacts {
  readonly exceptionHandling: ExceptionHandling;
  /** Memories that `memory.grow` grows, in the order of the helpers that stand for it. */
  readonly grownMemories: readonly number[];
}

/**
 * The function index space of the output, and with it the one place where an index of the input becomes one of the
 * output:
 *
 *     imports | hooks | functions of the module | wrappers of imports | host growth | growth helpers
 */
export interface Layout extends CodeFacts {
  readonly importCount: number;
  readonly functionCount: number;
  readonly hooks: readonly string[];
  /** Added to the index of every function that is not imported. */
  readonly shift: number;
  readonly enterIndex: number;
  readonly exitIndex: number;
  readonly memoryGrowIndex: number;
  /** 1 where a function of the input is traced. */
  readonly traced: Uint8Array;
  /** Per imported function, what a call of it reaches in the output: its wrapper, or itself. */
  readonly callTargets: Uint32Array;
  /** Per imported function, 1 where its declared type is open: see {@link referenceIndex}. */
  readonly openImports: Uint8Array;
  /** Indices of the imported functions that have a wrapper, in the order of the wrappers. */
  readonly wrapped: readonly number[];
  /** Memories that the host can grow and whose growth an import's wrapper looks for. */
  readonly watchedMemories: readonly number[];
  /** Index of the helper that reports the host's growth; -1 without. */
  readonly hostGrowthIndex: number;
  /** Per memory that the code grows, the helper that stands for `memory.grow`. */
  readonly growHelpers: Readonly<Record<number, number>>;
}

/** Lays out the output's function index space. */
export function layOut(module: Module, traced: Uint8Array, facts: CodeFacts): Layout {
  const importCount = module.importedFunctions.length;
  const functionCount = module.functionTypes.length;
  const watchedMemories = findWatchedMemories(module);
  const reportsGrowth = watchedMemories.length > 0 || facts.grownMemories.length > 0;
  const hasTraced = traced.includes(1);
  const hooks = [...(hasTraced ? ['enter', 'exit'] : []), ...(reportsGrowth ? ['memory-grow'] : [])];
  const hookIndex = (name: string) => (hooks.includes(name) ? importCount + hooks.indexOf(name) : -1);
  const shift = hooks.length;
  const wrapped = findWrapped(module, traced, watchedMemories.length > 0);
  const wrappersIndex = functionCount + shift;
  const callTargets = Uint32Array.from({ length: importCount }, (_, index) => index);
  wrapped.forEach((index, place) => {
    callTargets[index] = wrappersIndex + place;
  });
  const openImports = Uint8Array.from(callTargets, (_, index) => (hasOpenType(module, index) ? 1 : 0));
  const helpersIndex = wrappersIndex + wrapped.length;
  const growHelpersIndex = helpersIndex + (watchedMemories.length > 0 ? 1 : 0);
  return {
    ...facts,
    importCount,
    functionCount,
    hooks,
    shift,
    enterIndex: hookIndex('enter'),
    exitIndex: hookIndex('exit'),
    memoryGrowIndex: hookIndex('memory-grow'),
    traced,
    callTargets,
    openImports,
    wrapped,
    watchedMemories,
    hostGrowthIndex: watchedMemories.length > 0 ? helpersIndex : -1,
    growHelpers: Object.fromEntries(facts.grownMemories.map((index, place) => [index, growHelpersIndex + place])),
  };
}

/** Where a call of the function, or the start section, points in the output. */
export function callIndex(layout: Layout, index: number): number {
  return index < layout.importCount ? (layout.callTargets[index] as number) : index + layout.shift;
}

/**
 * Where a reference to the function (ref.func, an element) points in the output. The function that is imported under an open type
 * may have a subtype of it, which casts and indirect calls look at and which a wrapper can't have: a reference to it keeps pointing
 * at the import.
 */
export function referenceIndex(layout: Layout, index: number): number {
  return layout.openImports[index] === 1 ? index : callIndex(layout, index);
}

function hasOpenType(module: Module, importedFunction: number): boolean {
  return module.types[module.functionTypes[importedFunction] as number]?.isOpen === true;
}

/** The function itself in the output: what its export and its name speak of. An import keeps its index. */
export function definitionIndex(layout: Layout, index: number): number {
  return index < layout.importCount ? index : index + layout.shift;
}

/**
 * A memory that the host sees can be grown by it during an import call. A shared one can be grown at any time by
 * another thread, so the growth belongs to no call.
 */
function findWatchedMemories(module: Module): number[] {
  const canCallHost = module.importedFunctions.some((entry) => !isManualApi(entry) && !isBuiltin(entry));
  if (!canCallHost) return [];
  return module.memories.flatMap((memory, index) => {
    const isVisible = memory.isImported || memory.isExported;
    return isVisible && !memory.isShared && canGrow(memory) ? [index] : [];
  });
}

function findWrapped(module: Module, traced: Uint8Array, watchesGrowth: boolean): number[] {
  return module.importedFunctions.flatMap((entry, index) => {
    if (traced[index] === 1) return [index];
    return watchesGrowth && !isManualApi(entry) && !isBuiltin(entry) ? [index] : [];
  });
}
