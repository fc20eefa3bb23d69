import { describeModule } from '@tenon/instrument';
import { type CoverageCounts, readCounters, readCoverageMap } from '@tenon/instrument/coverage';
import { type HeapProfile, type ObserveImports, type Span, start, type TraceStatistics } from '@tenon/trace';
import { formatValue } from './arguments.ts';
import { type Ending, endingOf, failureReason, RunFailure } from './ending.ts';
import { createExtismHost, type ExtismHost, type LogLevel } from './extism-host.ts';
import { createFuelSlices } from './fuel.ts';
import { createRunCounter, type FunctionRun } from './function-runs.ts';
import { fillImports, type MissingRule, memoryOf } from './imports.ts';
import { functionOf, initialize } from './initialize.ts';
import type { Program } from './plan.ts';
import { type RunSources, sourceStack } from './source-stack.ts';
import { createSpanStore } from './spans.ts';
import type { Stopper } from './stopper.ts';
import { type Wasi, type WasiModule, wasiModules } from './wasi-interface.ts';

export type { FunctionRun } from './function-runs.ts';

/** A run: an instrumented module, what to call of it, and with what. */
export interface RunTask {
  readonly module: Uint8Array<ArrayBuffer>;
  readonly program: Program;
  /** For an Extism plugin. */
  readonly input: Uint8Array;
  readonly pluginConfig: ReadonlyMap<string, string>;
  readonly missing: MissingRule;
  readonly minDurationMicroseconds: number;
  readonly maxSpans: number;
  /** The run fails when its memories are larger. */
  readonly maxMemoryBytes: number;
  /** Number of runs, on one instance unless the program is a command. */
  readonly repeat: number;
}

export interface RunHost {
  /** Creates WASI for a new instance. */
  readonly createWasi: (module: WasiModule) => Wasi;
  readonly log: (level: LogLevel, text: string) => void;
  /** Called in every traced call. */
  readonly stopper: Stopper | undefined;
  readonly demangle: (name: string) => string;
  /** The module's sources, if they are wanted. */
  readonly sources?: RunSources | undefined;
}

/** Durations of one run. Functions are identified by their indices in the instrumented module. */
export interface RunFigures {
  /** Nanoseconds within traced calls, without the host's time between them. */
  readonly timeNano: number;
  readonly functions: readonly FunctionRun[];
}

export interface RunResult {
  readonly ending: Ending;
  /** The results of a function, formatted. */
  readonly values: readonly string[];
  /** The output of a plugin that succeeded. */
  readonly output: Uint8Array<ArrayBuffer> | undefined;
  /** Of the last run, up to the limit. */
  readonly spans: readonly Span[];
  /** Nanoseconds of the last run's outermost calls, those without a span included. */
  readonly timeNano: number;
  /** Of all runs. */
  readonly statistics: TraceStatistics;
  /** Of all runs; `undefined` if no allocator reported a call. */
  readonly heap: HeapProfile | undefined;
  readonly runs: readonly RunFigures[];
  /** Pages of memory when the last run started. */
  readonly initialPages: number | undefined;
  /** Of all runs; `undefined` for a module without coverage. */
  readonly coverage: CoverageCounts | undefined;
  /** Whether the program was stopped because it used up its fuel. */
  readonly isOutOfFuel: boolean;
}

interface Running {
  readonly exports: WebAssembly.Exports;
  /** The exports of the instance itself, whose calls aren't traced. */
  readonly untraced: WebAssembly.Exports;
  readonly memory: WebAssembly.Memory | undefined;
  readonly close: () => void;
}

/**
 * Compiles a module and prepares tracing.
 *
 * @returns a function that runs it, until a run fails
 * @throws Error if the module can't be run at all; its message is for people
 */
export function createRunner(task: RunTask, host: RunHost): () => RunResult {
  const { program, maxSpans } = task;
  const description = describeModule(task.module);
  const initialBytes = description.memories.reduce((sum, memory) => sum + memory.minimumPages * memory.pageBytes, 0);
  if (initialBytes > task.maxMemoryBytes) {
    throw new RunFailure(`It needs ${initialBytes} bytes of memory; the limit is ${task.maxMemoryBytes}`);
  }
  const compiled = new WebAssembly.Module(task.module, { builtins: ['js-string'] });
  const plugin = createExtismHost({ config: task.pluginConfig, log: host.log });
  let store = createSpanStore(maxSpans);
  let droppedBefore = 0;
  const context = start(compiled, {
    spanFilter: { minDurationMicroseconds: task.minDurationMicroseconds },
    limits: { spans: maxSpans },
    exporters: [{ export: (batch) => store.add(batch) }],
    statistics: true,
    demangle: host.demangle,
    source: host.sources?.functionSource,
    failureReason,
  });
  const usedWasi = wasiModules.filter((name) => description.imports.some(({ module }) => module === name));
  const coverageMap = readCoverageMap(task.module);
  const fuel = createFuelSlices(host.stopper ?? (() => {}));
  // Other modules trap with the fuel that they have, which is not to be sliced.
  const callsForFuel = description.imports.some(({ module, name }) => Object.hasOwn(fuel.imports[module] ?? {}, name));

  function instantiate(): Running {
    const observing = checkedImports(context.imports, host.stopper, initialBytes, task.maxMemoryBytes);
    const wasi = usedWasi.map((name) => [name, host.createWasi(name)] as const);
    const wasiImports = Object.fromEntries(wasi.map(([name, { imports }]) => [name, imports]));
    const imports = fillImports(description, [observing, fuel.imports, plugin.imports, wasiImports], task.missing);
    const untraced = context.run(() => new WebAssembly.Instance(compiled, imports));
    if (callsForFuel) fuel.attach(untraced.exports);
    const instance = context.bind(untraced);
    const memory = memoryOf(instance.exports, imports);
    if (memory !== undefined) for (const [, each] of wasi) each.attach(memory);
    const close = () => {
      for (const [, each] of wasi) each.close();
    };
    return { exports: instance.exports, untraced: untraced.exports, memory, close };
  }

  return () => {
    let ending: Ending = { kind: 'returned', exitCode: undefined };
    let answer: Answer = noAnswer;
    let initialPages: number | undefined;
    let running: Running | undefined;
    const runs: RunFigures[] = [];
    const takeCounts = createRunCounter(context);
    const coverage = coverageMap && new Float64Array(coverageMap.blockCount);
    const end = ({ untraced, close }: Running): void => {
      close();
      if (coverageMap === undefined || coverage === undefined) return;
      for (const [block, count] of readCounters(coverageMap, untraced).entries())
        coverage[block] = (coverage[block] ?? 0) + count;
    };
    while (runs.length < task.repeat && ending.kind === 'returned' && (ending.exitCode ?? 0) === 0) {
      droppedBefore += store.dropped();
      store = createSpanStore(maxSpans);
      let startNano: number | undefined;
      try {
        // A command runs once. Other instances are used again, as hosts do.
        if (running === undefined || program.kind === 'command') {
          if (running !== undefined) end(running);
          running = undefined;
          running = instantiate();
          if (program.kind !== 'command') initialize(running.exports, program.exportName);
        }
        // Spans of the initialisation are shown, and its time isn't part of the run.
        startNano = store.rootNano();
        takeCounts();
        initialPages = running.memory && running.memory.buffer.byteLength / 65_536;
        answer = call(running.exports, plugin, task);
        ending = { kind: 'returned', exitCode: program.kind === 'command' ? 0 : undefined };
      } catch (thrown) {
        ending = endingOf(thrown);
        const stack = sourceStack(thrown, host.sources, host.demangle);
        if (ending.kind === 'failed' && stack.length > 0) ending = { ...ending, stack };
      }
      if (startNano === undefined) break;
      runs.push({ timeNano: store.rootNano() - startNano, functions: takeCounts() });
    }
    if (running !== undefined) end(running);
    const { dropped, ...statistics } = context.statistics();
    return {
      ending,
      ...(ending.kind === 'returned' ? answer : noAnswer),
      spans: store.spans,
      timeNano: store.rootNano(),
      statistics: { ...statistics, dropped: { ...dropped, spans: dropped.spans + droppedBefore + store.dropped() } },
      heap: context.heapProfile(),
      runs,
      initialPages,
      coverage,
      isOutOfFuel: ending.kind === 'failed' && fuel.isUsedUp(),
    };
  };
}

type Answer = Pick<RunResult, 'values' | 'output'>;
const noAnswer: Answer = { values: [], output: undefined };

function call(exports: WebAssembly.Exports, plugin: ExtismHost, { program, input }: RunTask): Answer {
  const exported = functionOf(exports, program.exportName);
  plugin.begin(input);
  const result = exported(...program.args);
  if (program.kind === 'function') {
    const values = result === undefined ? [] : Array.isArray(result) ? result : [result];
    return { values: values.map(formatValue), output: undefined };
  }
  if (program.kind === 'command') return noAnswer;
  const { output, error } = plugin.end();
  if (error !== undefined) throw new RunFailure(`the plugin reported an error: ${error}`);
  if (result !== undefined && result !== 0) throw new RunFailure(`the plugin returned ${formatValue(result)}`);
  return { values: [], output };
}

/** The adapter's imports, with checks: an instrumented module calls them at each traced call and each memory growth. */
function checkedImports(
  imports: ObserveImports,
  stopper: Stopper | undefined,
  initialBytes: number,
  maxMemoryBytes: number,
): WebAssembly.Imports {
  const own = imports['dylibso:observe/instrument'] as Record<string, (value: number) => void>;
  const [enter, memoryGrow] = [own.enter, own['memory-grow']];
  if (enter === undefined || memoryGrow === undefined) throw new TypeError('The adapter has no enter or memory-grow');
  const checkedEnter =
    stopper &&
    ((index: number): void => {
      stopper();
      enter(index);
    });
  let bytes = initialBytes;
  const checkedGrow = (pages: number): void => {
    memoryGrow(pages);
    bytes += (pages >>> 0) * 65_536;
    if (bytes > maxMemoryBytes) throw new RunFailure(`its memory grew beyond the limit of ${maxMemoryBytes} bytes`);
  };
  return {
    ...imports,
    'dylibso:observe/instrument': { ...own, enter: checkedEnter ?? enter, 'memory-grow': checkedGrow },
    dylibso_observe: {
      ...imports.dylibso_observe,
      instrument_enter: checkedEnter ?? enter,
      instrument_memory_grow: checkedGrow,
    },
  };
}
