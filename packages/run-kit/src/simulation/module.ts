import { isTracingModule } from '@tenon/extension-schema/host-imports';
import {
  describeModule,
  InstrumentError,
  type InstrumentOptions,
  instrument,
  isInstrumented,
  type ModuleDescription,
} from '@tenon/instrument';
import { type CoverageMap, readCounters, readCoverageMap } from '@tenon/instrument/coverage';
import { endingOf, RunFailure } from '../ending.ts';
import { fuelImports, setFuel } from '../fuel.ts';
import { fillImports, memoryOf } from '../imports.ts';
import { initialize } from '../initialize.ts';
import { placeText, type RunSources, sourceStack } from '../source-stack.ts';
import { createRunSources } from '../sources.ts';
import { wasiModules } from '../wasi-interface.ts';
import type { PluginCoverage, SimulationLimits } from './task.ts';
import { createSimulationWasi } from './wasi.ts';

/** A module that a simulation runs. */
export interface SimulationModule {
  /** As error messages name it: `The plugin`. */
  readonly what: string;
  /** Of the module before it was instrumented. */
  readonly description: ModuleDescription;
  readonly isCounted: boolean;
  /** The coverage of all instances for which `end` was called; `undefined` if it isn't measured. */
  readonly coverage: PluginCoverage | undefined;
  /** Why its code did not return; for a trap also the source line, if its debug information has one. */
  readonly reasonOf: (thrown: unknown) => string;
  readonly instantiate: (hosts: readonly WebAssembly.Imports[], log: StreamLog) => ModuleInstance;
}

export type StreamLog = (stream: string, text: string) => void;

export interface ModuleInstance {
  readonly exports: WebAssembly.Exports;
  /** How many calls of its functions it has made. */
  readonly functionCalls: () => number;
  /** Pages of 64 KiB; `null` without a memory. */
  readonly memoryPages: () => number | null;
  /** Throws the failure of an instance that is beyond its limit, also if it caught the first throw. */
  readonly check: () => void;
  /** Logs the lines that are not complete. Call it after each call. */
  readonly flush: () => void;
  /** Allows the maximum number of instructions again. Call it before each call. */
  readonly refuel: () => void;
  /** The failure of an instance that trapped because it executed too many instructions. */
  readonly outOfFuel: (where: string) => OutOfFuel | undefined;
  /** Adds the instance's coverage to that of the module. Call it once, at the end. */
  readonly end: () => void;
}

/** A problem of the plugin, the test module or the mock host that ends a simulation. Its message is for people. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
}

/** A simulation that has executed too many instructions. */
export class OutOfFuel extends SimulationFailure {}

interface PrepareOptions {
  readonly countsCalls: boolean;
  readonly measuresCoverage?: boolean | undefined;
}

/**
 * Compiles a module. It is instrumented to count calls, and to limit its memory and its instructions. Memories of a module
 * that can't be instrumented are checked after each call.
 *
 * @throws SimulationFailure for a module that can't run
 */
export function prepareModule(
  bytes: Uint8Array,
  what: string,
  { maxMemoryBytes, maxInstructions }: SimulationLimits,
  options: PrepareOptions,
): SimulationModule {
  const prepared = compile(bytes, what, maxInstructions, options);
  const { compiled, description, runs, isCounted, isLimited, map, runningBytes } = prepared;
  const sources = createRunSources(runningBytes);
  const coverage = map && { map, counts: new Float64Array(map.blockCount) };
  const initialBytes = runs.memories.reduce((sum, memory) => sum + memory.minimumPages * memory.pageBytes, 0);
  if (initialBytes > maxMemoryBytes) {
    throw new SimulationFailure(`${what} needs ${initialBytes} bytes of memory; the limit is ${maxMemoryBytes}`);
  }
  const usedWasi = wasiModules.filter((name) => runs.imports.some(({ module: from }) => from === name));

  function instantiate(hosts: readonly WebAssembly.Imports[], log: StreamLog): ModuleInstance {
    let calls = 0;
    let bytesInUse = initialBytes;
    let isBeyondLimit = false;
    const check = () => {
      if (isBeyondLimit) throw new RunFailure(`its memory grew beyond the limit of ${maxMemoryBytes} bytes`);
    };
    const enter = () => {
      calls += 1;
      if (isBeyondLimit) check();
    };
    const grow = (pages: number) => {
      bytesInUse += (pages >>> 0) * 65_536;
      isBeyondLimit ||= bytesInUse > maxMemoryBytes;
      check();
    };
    let isOut = false;
    const outOfFuel = (where: string) =>
      isOut ? new OutOfFuel(`${where} used up ${maxInstructions.toLocaleString('en')} instructions.`) : undefined;
    const wasi = usedWasi.map((name) => [name, createSimulationWasi(name, log)] as const);
    const imports = fillImports(
      runs,
      [
        tracingImports(runs, enter, grow),
        fuelImports(() => {
          isOut = true;
        }),
        ...hosts,
        Object.fromEntries(wasi.map(([name, each]) => [name, each.imports])),
      ],
      'trap',
    );
    const start = <Result>(action: () => Result): Result => {
      try {
        return action();
      } catch (error) {
        throw outOfFuel(`${what}, when it started,`) ?? error;
      }
    };
    const instance = start(() => new WebAssembly.Instance(compiled, imports));
    const memory = memoryOf(instance.exports, imports);
    if (memory !== undefined) for (const [, each] of wasi) each.attach(memory);
    const made: ModuleInstance = {
      exports: instance.exports,
      functionCalls: () => calls,
      memoryPages: () => (memory === undefined ? null : Math.ceil(memory.buffer.byteLength / 65_536)),
      check() {
        isBeyondLimit ||= (memory?.buffer.byteLength ?? 0) > maxMemoryBytes;
        check();
      },
      flush() {
        for (const [, each] of wasi) each.flush();
      },
      refuel() {
        isOut = false;
        if (isLimited) setFuel(instance.exports, maxInstructions);
      },
      outOfFuel,
      end() {
        if (coverage === undefined) return;
        const counts = readCounters(coverage.map, instance.exports);
        for (const [at, count] of counts.entries()) coverage.counts[at] = (coverage.counts[at] ?? 0) + count;
      },
    };
    start(() => initialize(instance.exports, ''));
    made.check();
    return made;
  }
  const reasonWithPlace = (thrown: unknown) => `${reasonOf(thrown)}${placeOf(thrown, sources)}`;
  return { what, description, isCounted, coverage, reasonOf: reasonWithPlace, instantiate };
}

interface Compiled {
  readonly compiled: WebAssembly.Module;
  readonly description: ModuleDescription;
  /** The description of the module that runs. */
  readonly runs: ModuleDescription;
  readonly isCounted: boolean;
  /** Whether its fuel is that of the simulation. */
  readonly isLimited: boolean;
  readonly map: CoverageMap | undefined;
  /** The module that runs. */
  readonly runningBytes: Uint8Array;
}

/** Compiles a module, instrumented if possible. */
function compile(bytes: Uint8Array, what: string, fuel: number, options: PrepareOptions): Compiled {
  const { countsCalls, measuresCoverage } = options;
  try {
    const description = describeModule(bytes);
    return (
      compileInstrumented(bytes, description, countsCalls, { fuel, onOutOfFuel: 'call', coverage: measuresCoverage }) ??
      // A module may be too large for further instructions.
      compileInstrumented(bytes, description, countsCalls, {}) ?? {
        compiled: compileBytes(Uint8Array.from(bytes)),
        description,
        runs: description,
        isCounted: countsCalls && description.imports.some(({ name }) => enterNames.includes(name)),
        isLimited: false,
        map: undefined,
        runningBytes: bytes,
      }
    );
  } catch (error) {
    if (!(error instanceof InstrumentError || error instanceof WebAssembly.CompileError)) throw error;
    throw new SimulationFailure(`${what} is not a valid module: ${messageOf(error)}`);
  }
}

/** Returns `undefined` for a module that reports its calls itself, or can't be instrumented. */
function compileInstrumented(
  bytes: Uint8Array,
  description: ModuleDescription,
  isCounted: boolean,
  options: Pick<InstrumentOptions, 'fuel' | 'onOutOfFuel' | 'coverage'>,
): Compiled | undefined {
  if (isInstrumented(description)) return undefined;
  const imported = description.imports.filter(({ kind }) => kind === 'function');
  const selection = isCounted ? { banned: imported.map(({ module, name }) => `${module}.${name}`) } : { allowed: [] };
  try {
    const { bytes: instrumented } = instrument(bytes, { ...selection, ...options });
    const map = readCoverageMap(instrumented);
    const compiled = compileBytes(instrumented);
    return {
      compiled,
      description,
      runs: describeModule(instrumented),
      isCounted,
      isLimited: options.fuel !== undefined,
      map,
      runningBytes: instrumented,
    };
  } catch (error) {
    if (error instanceof InstrumentError || error instanceof WebAssembly.CompileError) return undefined;
    throw error;
  }
}

function compileBytes(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  return new WebAssembly.Module(bytes, { builtins: ['js-string'] });
}

/** The functions that report a call, under their current and their older name. */
const enterNames = ['enter', 'instrument_enter'];

/** The functions that an instrumented module calls. Those of the manual tracing interface do nothing. */
function tracingImports(
  { imports }: ModuleDescription,
  enter: () => void,
  grow: (pages: number) => void,
): WebAssembly.Imports {
  const known: Record<string, (...args: never[]) => void> = {
    enter,
    'memory-grow': grow,
    instrument_enter: enter,
    instrument_memory_grow: grow,
  };
  const filled: WebAssembly.Imports = Object.create(null);
  for (const { module, name, type } of imports) {
    if (!isTracingModule(module)) continue;
    const zero = type?.results[0] === 'i64' ? 0n : 0;
    const fields = filled[module] ?? Object.create(null);
    filled[module] = fields;
    fields[name] = Object.hasOwn(known, name) ? (known[name] as WebAssembly.ImportValue) : () => zero;
  }
  return filled;
}

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^WebAssembly\.\w+\(\): /, '');
}

/** The source line of a trap or an exception, as ` at /src/parse.c:42:7`; empty if unknown. */
function placeOf(thrown: unknown, sources: RunSources): string {
  if (!(thrown instanceof WebAssembly.RuntimeError)) return '';
  const frame = sourceStack(thrown, sources, (name) => name).find(({ file }) => file !== undefined);
  return frame === undefined ? '' : ` at ${placeText(frame)}`;
}

/** Why code of a module did not return. */
export function reasonOf(thrown: unknown): string {
  const ending = endingOf(thrown);
  if ('reason' in ending) return ending.reason;
  return ending.kind === 'returned' ? `it exited with code ${ending.exitCode}` : 'it was stopped';
}
