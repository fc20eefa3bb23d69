import { describeModule, instrument, type ModuleDescription } from '@tenon/instrument';
import { type FunctionStatistics, type ObserveImports, type Span, start, type TraceContext } from '@tenon/trace';
import { flameGraphData } from '@tenon/trace/flame-graph';
import { createBoundedDemangler } from '../demangle.ts';
import { showResults } from './arguments.ts';
import { clockStepMicroseconds } from './clock-step.ts';
import { createExtism, type Extism, extismModule } from './extism.ts';
import type { FunctionRow, Outcome, RunMessage, RunRequest, RunResult, StreamName } from './messages.ts';
import { ProgramExit, RunStopped } from './program-end.ts';
import { fillImports } from './stand-ins.ts';
import { createWasi, notImplemented, wasiModules } from './wasi.ts';

/** What a run needs of the worker around it. */
export interface RunHost {
  /** Milliseconds since some moment, as fine as it goes. */
  now(): number;
  /** Milliseconds since 1970-01-01 UTC. */
  wallClock(): number;
  random(bytes: Uint8Array<ArrayBuffer>): void;
  /** Waits that many milliseconds, or until the run is to stop. */
  sleep(ms: number): void;
  write(stream: StreamName, bytes: Uint8Array): void;
  tell(message: RunMessage): void;
}

/** So much memory a module may have: a page that takes all of it takes the browser with it. */
export const maxMemoryBytes = 1024 * 1024 * 1024;

/** So many spans are kept, of all traces together: who reports calls by hand can make a trace of each. */
const maxSpans = 100_000;

/** So many functions are listed with what their calls came to. */
const maxRows = 500;

/**
 * Instruments a module, runs one of its exports, and tells what happened. Nothing of the module is left after that but what is told.
 *
 * @throws Error in words for people, where it could not be run at all
 */
export function runModule(request: RunRequest, host: RunHost): RunResult {
  host.tell({ kind: 'phase', phase: 'instrumenting' });
  const input = new Uint8Array(request.bytes);
  const bytes = request.isInstrumented ? input : Uint8Array.from(instrument(input, request.options).bytes);
  const description = describeModule(bytes);
  const initialBytes = description.memories.reduce((sum, memory) => sum + memory.minimumPages * memory.pageBytes, 0);
  if (initialBytes > maxMemoryBytes)
    throw new Error(`It wants ${initialBytes} bytes of memory at once; here it gets at most a GiB`);
  host.tell({ kind: 'phase', phase: 'compiling' });
  const module = new WebAssembly.Module(bytes);
  const spans: Span[] = [];
  let spansTooMany = 0;
  const demangle = createBoundedDemangler(request.demangler, host.now);
  const context = start(module, {
    spanFilter: { minDurationMicroseconds: request.minDurationMicroseconds },
    exporters: [
      {
        export(batch) {
          for (const span of batch) {
            if (spans.length < maxSpans) spans.push(span);
            else spansTooMany += 1;
          }
        },
      },
    ],
    statistics: true,
    demangle,
    failureReason: reasonOf,
  });
  host.tell({ kind: 'phase', phase: 'running' });
  const { outcome, durationMs, extism } = call(request, host, { description, module, context, initialBytes });
  host.tell({ kind: 'phase', phase: 'gathering' });
  const { functions, dropped } = context.statistics();
  const rows = functions.filter(({ calls }) => calls > 0).map(rowOf);
  return {
    outcome,
    output: extism === undefined ? undefined : Uint8Array.from(extism.output()),
    flame: flameGraphData(spans, { title: request.exportName, initialPages: Math.ceil(initialBytes / 65_536) }),
    spans: spans.length,
    functions: rows.sort((a, b) => b.self - a.self).slice(0, maxRows),
    moreFunctions: Math.max(0, rows.length - maxRows),
    dropped: { ...dropped, spans: dropped.spans + spansTooMany },
    durationMs,
    clockStepMicroseconds: clockStepMicroseconds(host.now),
  };
}

interface Prepared {
  readonly description: ModuleDescription;
  readonly module: WebAssembly.Module;
  readonly context: TraceContext;
  readonly initialBytes: number;
}

interface Called {
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly extism: Extism | undefined;
}

/** Instantiates, initializes where the module asks for it, and calls. */
function call(request: RunRequest, host: RunHost, prepared: Prepared): Called {
  const { description, module, context } = prepared;
  const { exportName } = request;
  const extism = description.imports.some(({ module: from }) => from === extismModule)
    ? createExtism({
        input: new TextEncoder().encode(request.input),
        config: new Map(),
        log: (level, message) => host.write('stderr', new TextEncoder().encode(`[${level}] ${message}\n`)),
      })
    : undefined;
  let exports: WebAssembly.Exports = {};
  let memory: WebAssembly.Memory | undefined;
  const known = knownImports(request, host, prepared, extism, () => memory ?? memoryOf(exports));
  const imports = fillImports(description, known, request.missing);
  memory = importedMemory(description, imports);
  const signature = description.exports.find(({ name, kind }) => kind === 'function' && name === exportName)?.type;
  let startMs = host.now();
  try {
    const instance = context.run(() => new WebAssembly.Instance(module, imports));
    exports = context.bind(instance).exports;
    initialize(exports, exportName, extism !== undefined);
    startMs = host.now();
    const returned = functionOf(exports, exportName)(...request.args);
    const durationMs = host.now() - startMs;
    const results = showResults(signature?.results ?? [], returned);
    return {
      outcome: extism === undefined ? { kind: 'returned', results } : pluginOutcome(extism, returned, results),
      durationMs,
      extism,
    };
  } catch (error) {
    return { outcome: outcomeOf(error), durationMs: host.now() - startMs, extism };
  }
}

function knownImports(
  request: RunRequest,
  host: RunHost,
  { description, context, initialBytes }: Prepared,
  extism: Extism | undefined,
  memory: () => WebAssembly.Memory,
): ReadonlyMap<string, Readonly<Record<string, WebAssembly.ImportValue>>> {
  const stopper = createStopper(request.stopFlag, host.tell);
  const known = new Map<string, Readonly<Record<string, WebAssembly.ImportValue>>>(
    Object.entries(watched(context.imports, stopper, initialBytes)),
  );
  const wasi = createWasi(
    {
      args: [request.fileName, ...request.programArgs],
      env: request.env,
      stdin: new TextEncoder().encode(request.input),
      write: host.write,
      wallClock: () => nanoseconds(host.wallClock()),
      monotonicClock: () => nanoseconds(host.now()),
      random: host.random,
      sleep(ms) {
        host.sleep(ms);
        stopper?.();
      },
    },
    memory,
  );
  for (const name of wasiModules) {
    const wanted = description.imports.filter(({ module, kind }) => module === name && kind === 'function');
    known.set(name, Object.fromEntries(wanted.map(({ name: field }) => [field, wasi.get(field) ?? notImplemented])));
  }
  if (extism !== undefined) known.set(extismModule, extism.functions);
  return known;
}

/**
 * The adapter's imports, in which a run can be held up: an instrumented module comes by at each call of a function and after each growth
 * of its memory.
 */
function watched(imports: ObserveImports, stopper: Stopper | undefined, initialBytes: number): ObserveImports {
  const { enter, 'memory-grow': memoryGrow } = imports['dylibso:observe/instrument'] as Record<
    string,
    (value: number) => void
  >;
  if (enter === undefined || memoryGrow === undefined) throw new TypeError('The adapter has other imports now');
  let bytes = initialBytes;
  const watchedEnter =
    stopper === undefined
      ? enter
      : (index: number): void => {
          stopper();
          enter(index);
        };
  const watchedGrow = (pages: number): void => {
    memoryGrow(pages);
    bytes += (pages >>> 0) * 65_536;
    if (bytes > maxMemoryBytes) throw new RunStopped('Its memory grew to more than a GiB.');
  };
  return {
    ...imports,
    'dylibso:observe/instrument': {
      ...imports['dylibso:observe/instrument'],
      enter: watchedEnter,
      'memory-grow': watchedGrow,
    },
    dylibso_observe: {
      ...imports.dylibso_observe,
      instrument_enter: watchedEnter,
      instrument_memory_grow: watchedGrow,
    },
  };
}

/** Of milliseconds since 1970 a double holds no more than a fifth of a microsecond: what comes after the point is taken apart. */
function nanoseconds(ms: number): bigint {
  const whole = Math.trunc(ms);
  return BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6));
}

/** Throws once a run is to stop. */
type Stopper = () => void;

/**
 * What is thrown unwinds the module, and then its spans are gathered, which may take longer than the page waits: so the page is told. A
 * module may catch it and go on; that is told as well, and the page ends the worker.
 */
function createStopper(stopFlag: SharedArrayBuffer | undefined, tell: RunHost['tell']): Stopper | undefined {
  if (stopFlag === undefined) return undefined;
  const flag = new Int32Array(stopFlag);
  let throws = 0;
  return () => {
    if (flag[0] === 0) return;
    throws += 1;
    if (throws <= 2) tell({ kind: 'phase', phase: throws === 1 ? 'gathering' : 'running' });
    throw new RunStopped('You stopped it.');
  };
}

/** What has to be called before anything else: https://github.com/WebAssembly/WASI/blob/main/legacy/application-abi.md */
function initialize(exports: WebAssembly.Exports, exportName: string, isPlugin: boolean): void {
  const names = isPlugin ? ['_initialize', '__wasm_call_ctors'] : ['_initialize'];
  const first = names.find((name) => typeof exports[name] === 'function');
  if (first !== undefined && first !== exportName && exportName !== '_start') functionOf(exports, first)();
}

function functionOf(exports: WebAssembly.Exports, name: string): (...args: unknown[]) => unknown {
  const found = exports[name];
  if (typeof found !== 'function') throw new Error(`The module exports no function ${name}`);
  return found as (...args: unknown[]) => unknown;
}

function memoryOf(exports: WebAssembly.Exports): WebAssembly.Memory {
  const named = exports.memory;
  if (named instanceof WebAssembly.Memory) return named;
  const any = Object.values(exports).find((value) => value instanceof WebAssembly.Memory);
  if (any === undefined) throw new Error('The module exports no memory in which it could be answered');
  return any;
}

function importedMemory({ imports }: ModuleDescription, filled: WebAssembly.Imports): WebAssembly.Memory | undefined {
  const entry = imports.find(({ kind }) => kind === 'memory');
  const value = entry === undefined ? undefined : filled[entry.module]?.[entry.name];
  return value instanceof WebAssembly.Memory ? value : undefined;
}

/** A plugin answers 0 where it did what it was asked. */
function pluginOutcome(extism: Extism, returned: unknown, results: string): Outcome {
  const message = extism.error();
  if (message !== undefined) return { kind: 'failed', message };
  return returned === 0 || returned === undefined
    ? { kind: 'returned', results: '' }
    : { kind: 'failed', message: `It answered ${results}` };
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof ProgramExit) return { kind: 'exited', code: error.code };
  if (error instanceof RunStopped) return { kind: 'stopped', message: error.message };
  return { kind: 'failed', message: messageOf(error) };
}

/** Why a span failed. That a program ends itself with 0 is no failure. */
function reasonOf(thrown: unknown): string | undefined {
  if (thrown instanceof ProgramExit && thrown.code === 0) return undefined;
  return messageOf(thrown);
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof WebAssembly.Exception) return 'It threw an exception that nobody caught';
  if (thrown instanceof WebAssembly.RuntimeError) return `It trapped: ${thrown.message}`;
  return (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 1_000);
}

function rowOf(statistics: FunctionStatistics): FunctionRow {
  const { function: traced, calls, failures, totalTimeNano, selfTimeNano, maxTimeNano, grownPages } = statistics;
  return {
    name: traced.name.slice(0, 2_000),
    rawName: traced.rawName,
    calls,
    failures,
    total: Number(totalTimeNano),
    self: Number(selfTimeNano),
    max: Number(maxTimeNano),
    pages: grownPages,
  };
}
