import { extraHookModule, hookModule, isBuiltin, isManualApi } from '../binary/imports.ts';
import { canGrow, type Module, memoryAddressType } from '../binary/module.ts';
import { i32Type } from '../binary/types.ts';
import type { ExceptionHandling } from '../scan/cursor.ts';
import type { Allocator } from '../select/allocators.ts';
import { type AdaptiveLayout, type AdaptiveOptions, layOutAdaptive, sharedGlobals } from './adaptive.ts';
import type { ProbePlan } from './plan-probes.ts';
import { layOutProbes, outOfFuelHook, type Probes } from './probes.ts';

/** Facts about the code that the layout depends on. */
interface CodeFacts {
  readonly exceptionHandling: ExceptionHandling;
  /** Memories that `memory.grow` grows, in the order of their helpers. */
  readonly grownMemories: readonly number[];
  /** The module's own allocators that are traced, in the order of their wrappers. */
  readonly allocators: readonly Allocator[];
  /** Whether growth of memories is reported. */
  readonly reportsGrowth: boolean;
  /** With coverage or fuel. */
  readonly probed: ProbePlan | undefined;
  /** `undefined` if each call is reported. */
  readonly adaptiveOptions: AdaptiveOptions | undefined;
}

/** A function that the output imports. */
export interface Hook {
  readonly module: string;
  readonly name: string;
  /** Value types. */
  readonly parameters: readonly number[];
}

/**
 * The function index space of the output. Only this file maps indices of the input to the output:
 *
 *     imports | hooks | functions of the module | wrappers of imports | host growth | growth helpers | wrappers of allocators
 *     | exit of adaptive tracing | probe functions
 */
export interface Layout extends CodeFacts {
  readonly importCount: number;
  readonly functionCount: number;
  readonly hooks: readonly Hook[];
  /** Added to the index of every function that is not imported. */
  readonly shift: number;
  readonly enterIndex: number;
  readonly exitIndex: number;
  readonly memoryGrowIndex: number;
  readonly allocatorEnterIndex: number;
  readonly allocatorExitIndex: number;
  /** Per function of the input, 1 if it is traced. */
  readonly traced: Uint8Array;
  /**
   * Per imported function, and with traced allocators per function, the output index that calls reach: its wrapper, or its
   * definition.
   */
  readonly callTargets: Uint32Array;
  /** Per imported function, 1 if its declared type is open: see {@link referenceIndex}. */
  readonly openImports: Uint8Array;
  /** Indices of the imported functions with a wrapper, in the order of the wrappers. */
  readonly wrapped: readonly number[];
  /** Memories that the host can grow, whose size wrappers of imports check. */
  readonly watchedMemories: readonly number[];
  /** Index of the helper that reports growth by the host; -1 without. */
  readonly hostGrowthIndex: number;
  /** Per memory that the code grows, the index of the helper that replaces `memory.grow`. */
  readonly growHelpers: Readonly<Record<number, number>>;
  /** With adaptive tracing. */
  readonly adaptive: AdaptiveLayout | undefined;
  /** With coverage or fuel. */
  readonly probes: Probes | undefined;
}

/** Lays out the output's function index space. */
export function layOut(module: Module, traced: Uint8Array, facts: CodeFacts): Layout {
  const importCount = module.importedFunctions.length;
  const functionCount = module.functionTypes.length;
  const watchedMemories = facts.reportsGrowth ? findWatchedMemories(module) : [];
  const reportsGrowth = watchedMemories.length > 0 || facts.grownMemories.length > 0;
  const hasTraced = traced.includes(1);
  const callsHost = facts.probed?.callsHost === true;
  const hooks = hooksOf(module, { hasTraced, reportsGrowth, hasAllocators: facts.allocators.length > 0, callsHost });
  const hookIndex = (name: string) => {
    const place = hooks.findIndex((hook) => hook.name === name);
    return place === -1 ? -1 : importCount + place;
  };
  const shift = hooks.length;
  const wrapped = findWrapped(module, traced, watchedMemories.length > 0);
  const wrappersIndex = functionCount + shift;
  const helpersIndex = wrappersIndex + wrapped.length;
  const growHelpersIndex = helpersIndex + (watchedMemories.length > 0 ? 1 : 0);
  const allocatorWrappersIndex = growHelpersIndex + facts.grownMemories.length;
  const callTargets = Uint32Array.from(
    { length: facts.allocators.length > 0 ? functionCount : importCount },
    (_, index) => (index < importCount ? index : index + shift),
  );
  wrapped.forEach((index, place) => {
    callTargets[index] = wrappersIndex + place;
  });
  facts.allocators.forEach(({ functionIndex }, place) => {
    callTargets[functionIndex] = allocatorWrappersIndex + place;
  });
  const openImports = Uint8Array.from({ length: importCount }, (_, index) => (hasOpenType(module, index) ? 1 : 0));
  const firstGlobal = module.globalCount + watchedMemories.length;
  const exitHelperIndex = allocatorWrappersIndex + facts.allocators.length;
  const adaptive =
    facts.adaptiveOptions === undefined || !hasTraced
      ? undefined
      : layOutAdaptive(module, traced, { ...facts.adaptiveOptions, shift, firstGlobal, exitHelperIndex });
  const probes =
    facts.probed &&
    layOutProbes(
      facts.probed,
      firstGlobal + (adaptive === undefined ? 0 : sharedGlobals + adaptive.functions.length),
      exitHelperIndex + (adaptive === undefined ? 0 : 1),
    );
  return {
    ...facts,
    importCount,
    functionCount,
    hooks,
    shift,
    enterIndex: hookIndex('enter'),
    exitIndex: hookIndex('exit'),
    memoryGrowIndex: hookIndex('memory-grow'),
    allocatorEnterIndex: hookIndex('allocator-enter'),
    allocatorExitIndex: hookIndex('allocator-exit'),
    traced,
    callTargets,
    openImports,
    wrapped,
    watchedMemories,
    hostGrowthIndex: watchedMemories.length > 0 ? helpersIndex : -1,
    growHelpers: Object.fromEntries(facts.grownMemories.map((index, place) => [index, growHelpersIndex + place])),
    adaptive,
    probes,
  };
}

/** The output index for calls of the function and for the start section. */
export function callIndex(layout: Layout, index: number): number {
  return index < layout.callTargets.length ? (layout.callTargets[index] as number) : index + layout.shift;
}

/**
 * The output index for references to the function (`ref.func`, elements). A function that is imported with an open type may
 * have a subtype of it. Casts and indirect calls check that subtype, which a wrapper can't have, so references keep naming
 * the import.
 */
export function referenceIndex(layout: Layout, index: number): number {
  return layout.openImports[index] === 1 ? index : callIndex(layout, index);
}

interface HookNeeds {
  readonly hasTraced: boolean;
  readonly reportsGrowth: boolean;
  readonly hasAllocators: boolean;
  readonly callsHost: boolean;
}

function hooksOf(module: Module, { hasTraced, reportsGrowth, hasAllocators, callsHost }: HookNeeds): Hook[] {
  const address = memoryAddressType(module);
  const hook = (name: string) => ({ module: hookModule, name, parameters: [i32Type] });
  const extra = (name: string, ...parameters: readonly number[]) => ({ module: extraHookModule, name, parameters });
  return [
    ...(hasTraced ? [hook('enter'), hook('exit')] : []),
    ...(reportsGrowth ? [hook('memory-grow')] : []),
    ...(hasAllocators ? [extra('allocator-enter', i32Type, address, address), extra('allocator-exit', address)] : []),
    ...(callsHost ? [extra(outOfFuelHook)] : []),
  ];
}

function hasOpenType(module: Module, importedFunction: number): boolean {
  return module.types[module.functionTypes[importedFunction] as number]?.isOpen === true;
}

/** The output index for exports and direct tail calls. An import keeps its index. */
export function exportIndex(layout: Layout, index: number): number {
  return index < layout.importCount ? index : callIndex(layout, index);
}

/** The output index of the function's definition, for names. An import keeps its index. */
export function definitionIndex(layout: Layout, index: number): number {
  return index < layout.importCount ? index : index + layout.shift;
}

/**
 * The host can grow a visible memory during a call of an import. Another thread can grow a shared memory at any time, so
 * that growth belongs to no call.
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
