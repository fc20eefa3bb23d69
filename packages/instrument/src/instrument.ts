import { readBodyBounds } from './binary/code.ts';
import { exportName } from './binary/exports.ts';
import { canGrow, type Module, readModule } from './binary/module.ts';
import { readNames } from './binary/name-section.ts';
import { InstrumentError, limitExceeded } from './errors.ts';
import { maxExports, maxFunctionBodyBytes, maxFunctions, maxImports, maxTypes } from './limits.ts';
import type { Note } from './notes.ts';
import { createProgress } from './progress.ts';
import type { AdaptiveOptions } from './rewrite/adaptive.ts';
import { addedExports } from './rewrite/added-exports.ts';
import { assemble } from './rewrite/assemble.ts';
import type { BuildIds } from './rewrite/custom-section-writer.ts';
import { checkRewritable } from './rewrite/custom-sections.ts';
import { generateFunctions } from './rewrite/generated-functions.ts';
import type { GeneratedFunction } from './rewrite/instructions.ts';
import { type Layout, layOut } from './rewrite/layout.ts';
import { type Measures, measureBodies } from './rewrite/measure-bodies.ts';
import { longBodyNote, planProbes } from './rewrite/plan-probes.ts';
import { createTypePool, type TypePool } from './rewrite/type-pool.ts';
import type { CodeScan, ExceptionHandling } from './scan/cursor.ts';
import { createBlockFinder } from './scan/find-blocks.ts';
import { createLeafFinder } from './scan/find-leaves.ts';
import { scanCode } from './scan/scan-code.ts';
import { type Allocator, selectAllocators } from './select/allocators.ts';
import { checkOptions, type InstrumentOptions } from './select/config.ts';
import { selectFunctions } from './select/selection.ts';

/** The result of instrumenting a module, in numbers. */
export interface InstrumentReport {
  /** Functions that call `enter` and `exit`, traced imports included. */
  readonly tracedFunctions: number;
  /** Functions of the input, imports included. */
  readonly totalFunctions: number;
  /**
   * Names imported from `dylibso:observe/instrument`, in order: any of `enter`, `exit` and `memory-grow`. Then those from
   * `tenon:instrument`: with the option `memory`, `allocator-enter` and `allocator-exit`; with `onOutOfFuel`, `out-of-fuel`.
   */
  readonly addedImports: readonly string[];
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** The IDs in the `build_id` section of the input and of the output, if the input has one that changes. */
  readonly buildId?: BuildIds;
  /** Findings that are not errors. */
  readonly notes: readonly Note[];
}

export interface InstrumentResult {
  /** The instrumented module, in a new buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The source map of the options, for the instrumented module. Absent if it is malformed. */
  readonly sourceMap?: string;
  /** The output with the DWARF of the options' debug file. Absent if the module doesn't name that file, or it doesn't fit. */
  readonly debugFile?: Uint8Array<ArrayBuffer>;
  readonly report: InstrumentReport;
}

/**
 * Rewrites a core WebAssembly module so that it calls `enter` when a traced function starts, `exit` when it ends, and
 * `memory-grow` when a memory has grown, and further hooks by option; see docs/explanation/rewriting.md. If nothing is traced and no growth can be
 * reported, the output equals the input.
 *
 * Checks the module's structure and the indices that change, but not its types. Let an engine validate untrusted input:
 * the output for an invalid input is undefined.
 *
 * Throws an {@link InstrumentError}, with `offset` for errors in the bytes: `not_wasm`, `component_not_supported`,
 * `invalid_module`, `unsupported_feature`, `already_instrumented`, `relocatable_object`, `module_too_complex`; `invalid_config` for options.
 */
export function instrument(bytes: Uint8Array, options: InstrumentOptions = {}): InstrumentResult {
  checkOptions(options);
  const module = readModule(bytes);
  checkRewritable(module);
  const bodyBounds = readBodyBounds(module);
  const notes: Note[] = [];
  const nameNotes: Note[] = [];
  const names = readNames(module, nameNotes);
  const traced = selectFunctions(module, bodyBounds, names, options, notes);
  const allocators = selectAllocators(module, names, options, notes);
  const plan = makePlan(module, bodyBounds, traced, allocators, options, notes);
  if (plan !== undefined) notes.push(...nameNotes, ...exceptionHandlingNotes(plan));
  // Not slice(), which doesn't copy a Node.js Buffer.
  const output =
    plan === undefined
      ? {
          bytes: new Uint8Array(bytes),
          sourceMap: options.sourceMap,
          buildId: undefined,
          debugFile: options.debugFile && new Uint8Array(options.debugFile),
        }
      : assemble({ ...plan, module, names, notes, options });
  const report = {
    tracedFunctions: traced.reduce((total, flag) => total + flag, 0),
    totalFunctions: module.functionTypes.length,
    addedImports: plan?.layout.hooks.map(({ name }) => name) ?? [],
    inputBytes: bytes.length,
    outputBytes: output.bytes.length,
    ...(output.buildId === undefined ? {} : { buildId: output.buildId }),
    notes,
  };
  return {
    bytes: output.bytes,
    ...(output.sourceMap === undefined ? {} : { sourceMap: output.sourceMap }),
    ...(output.debugFile === undefined ? {} : { debugFile: output.debugFile }),
    report,
  };
}

/** What the output is written from. */
interface Plan {
  readonly layout: Layout;
  readonly types: TypePool;
  readonly scan: CodeScan;
  readonly measures: Measures;
  readonly generated: readonly GeneratedFunction[];
}

/**
 * Scans the code, lays out the output, and measures its function bodies. Clears `traced` for functions that must stay
 * untraced, and adds notes about them. Returns undefined if there is nothing to report.
 */
function makePlan(
  module: Module,
  bodyBounds: Uint32Array,
  traced: Uint8Array,
  allocators: readonly Allocator[],
  options: InstrumentOptions,
  notes: Note[],
): Plan | undefined {
  const reportsGrowth = options.trace !== false;
  const hasProbes = options.coverage === true || options.fuel !== undefined;
  const hasHooks = traced.includes(1) || allocators.length > 0 || (reportsGrowth && module.memories.some(canGrow));
  if (!hasProbes && !hasHooks) return undefined;
  const codeBytes = (bodyBounds.at(-1) ?? 0) - (bodyBounds[0] ?? 0);
  const finder = hasProbes ? createBlockFinder(module, bodyBounds.length / 2, options.fuel !== undefined) : undefined;
  const leafFinder = options.skipLeaves ? createLeafFinder(module, bodyBounds.length / 2, finder?.visitor) : undefined;
  const visitor = leafFinder?.visitor ?? finder?.visitor;
  const scan = scanCode(module, bodyBounds, createProgress(codeBytes, options.onProgress), visitor);
  leafFinder?.clear(scan, traced);
  const probed = finder && planProbes(module, finder.finish(), options, notes);
  const grownMemories = module.memories.flatMap((_, index) =>
    reportsGrowth && scan.grownMemories[index] === 1 ? [index] : [],
  );
  for (;;) {
    const layout = layOut(module, traced, {
      grownMemories,
      allocators,
      reportsGrowth,
      probed,
      adaptiveOptions: adaptiveOptionsOf(bodyBounds, options),
      exceptionHandling: chooseExceptionHandling(module, scan, traced.includes(1) || allocators.length > 0, options),
    });
    if (layout.hooks.length === 0 && layout.probes === undefined) return undefined;
    const types = createTypePool(module);
    const measures = measureBodies({ module, layout, types, scan });
    for (const index of measures.leftUntraced) {
      traced[index] = 0;
      notes.push(leftUntracedNote(index));
    }
    for (const index of measures.leftUncounted) notes.push(longBodyNote(index));
    // Without any traced function the hooks go, and every index moves.
    if (traced.includes(1) !== (layout.enterIndex !== -1)) continue;
    const generated = generateFunctions(module, layout, types, grownMemories);
    checkOutputLimits(module, layout, types, generated);
    return { layout, types, scan, measures, generated };
  }
}

function adaptiveOptionsOf(
  bodyBounds: Uint32Array,
  { adaptive = false, every = 1 }: InstrumentOptions,
): AdaptiveOptions | undefined {
  return adaptive || every > 1 ? { bodyBounds, isExported: adaptive, every } : undefined;
}

/** Exceptions may pass through a module that has tags, even if it uses neither kind of exception handling. */
function chooseExceptionHandling(
  module: Module,
  scan: CodeScan,
  needsGuards: boolean,
  options: InstrumentOptions,
): ExceptionHandling {
  if (scan.exceptionHandling !== 'none') return scan.exceptionHandling;
  return module.tagCount > 0 && needsGuards ? (options.exceptionHandling ?? 'exnref') : 'none';
}

function checkOutputLimits(
  module: Module,
  layout: Layout,
  types: TypePool,
  generated: readonly GeneratedFunction[],
): void {
  const end = module.bytes.length;
  const functions = layout.functionCount + layout.shift + generated.length;
  if (functions > maxFunctions) throw limitExceeded('functions', functions, maxFunctions, end);
  const imports = module.imports.length + layout.shift;
  if (imports > maxImports) throw limitExceeded('imports', imports, maxImports, end);
  const typeCount = module.types.length + types.added.length + 1;
  if (typeCount > maxTypes) throw limitExceeded('types', typeCount, maxTypes, end);
  const added = new Set(addedExports(layout).map(({ name }) => name));
  if (added.size === 0) return;
  const exports = module.exports.length + added.size;
  if (exports > maxExports) throw limitExceeded('exports', exports, maxExports, end);
  const found = module.exports.find((entry) => added.has(exportName(module, entry)));
  if (found === undefined) return;
  const message = `Expected a module without exports of instrumentation, found an export of ${exportName(module, found)}`;
  throw new InstrumentError('already_instrumented', message, { offset: found.nameStart });
}

function leftUntracedNote(functionIndex: number): Note {
  const message = `Function ${functionIndex} is not traced: with tracing its body would pass ${maxFunctionBodyBytes} bytes, which engines accept at most`;
  return { code: 'function_left_untraced', message, functionIndex };
}

function exceptionHandlingNotes({ layout, scan }: Plan): Note[] {
  const { exceptionHandling } = layout;
  if (exceptionHandling === 'none' || scan.exceptionHandling !== 'none') return [];
  const message = `The module has tags but no handler, so both legacy and exnref exception handling fit: ${exceptionHandling} was chosen`;
  return [{ code: 'exception_handling_chosen', message, exceptionHandling }];
}
