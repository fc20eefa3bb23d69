import { start, type TraceContext } from '@tenon/trace';
import { createDemangler } from '@tenon/trace/demangle';
import { formatResults } from './call-arguments.ts';
import { createExtismHost, type ExtismHost } from './extism-host.ts';
import type { Ending, FunctionRun, RunMessage, RunResult, RunTask } from './messages.ts';
import { extismModule, type Program, type Stub } from './program.ts';
import { createSpanRoom, type SpanRoom } from './span-room.ts';
import { createStandardInput } from './standard-input.ts';
import { createStopper, Stopped, type Stopper } from './stopper.ts';
import { createWasiHost, loadWasi, openNothing, ProgramExit, type WasiHost } from './wasi-host.ts';

/** An instance, and what stands around it. */
interface Running {
  readonly exports: WebAssembly.Exports;
  readonly memory: WebAssembly.Memory | undefined;
  readonly plugin: ExtismHost;
  /** Lets go of what it holds of the system. */
  readonly close: () => void;
}

/** What a call came to. */
interface Answer {
  readonly ending: Ending;
  readonly output: Uint8Array | undefined;
}

const encoder = new TextEncoder();

/**
 * Prepares the runs of a program.
 *
 * @returns runs it as often as the task says, or until a run fails
 */
export async function createProgramRunner(
  task: RunTask,
  send: (message: RunMessage) => void,
): Promise<() => Omit<RunResult, 'runs'>> {
  const Wasi = await loadWasi();
  const stopper = createStopper(new Int32Array(task.shared), () => send({ type: 'stops' }));
  const stdin = createStandardInput({ port: task.stdin, stopper, askForMore: () => send({ type: 'wants-input' }) });
  const plugin = createExtismHost({ config: task.pluginConfig, log: limited((text) => send({ type: 'log', text })) });
  /** Of the run that is going on, or of the last one. */
  let room: SpanRoom = createSpanRoom(task.maxSpans);
  /** Spans of all runs for which there was no room. */
  let spansTooMany = 0;
  const context = start(task.module, {
    spanFilter: { minDurationMicroseconds: task.minDurationMicroseconds },
    limits: { spans: task.maxSpans },
    exporters: [
      {
        export(batch) {
          spansTooMany += room.take(batch);
        },
      },
    ],
    statistics: true,
    demangle: createDemangler(task.demangler),
    failureReason,
  });
  const observing = stoppable(context, stopper);
  const compiled = new WebAssembly.Module(task.module, { builtins: ['js-string'] });
  const imported = new Set(WebAssembly.Module.imports(compiled).map(({ module }) => module));
  const wasiVersions = [
    { module: 'wasi_snapshot_preview1', version: 'preview1' } as const,
    { module: 'wasi_unstable', version: 'unstable' } as const,
  ].filter(({ module }) => imported.has(module));
  const nothing = openNothing();

  function instantiate(): Running {
    const wasi = wasiVersions.map(({ module, version }): [string, WasiHost] => [
      module,
      createWasiHost(Wasi, version, task, { stdin, stopper, nothing }),
    ]);
    const imports = mergeImports([
      stubImports(task.stubs),
      { [extismModule]: plugin.imports },
      ...wasi.map(([name, host]) => ({ [name]: host.imports })),
      observing,
    ]);
    const instance = context.bind(context.run(() => new WebAssembly.Instance(compiled, imports)));
    const memory = memoryOf(instance.exports, imports);
    if (memory !== undefined) for (const [, host] of wasi) host.attach(memory);
    const close = () => {
      for (const [, host] of wasi) host.close();
    };
    return { exports: instance.exports, memory, plugin, close };
  }

  return () => {
    let ending = returned;
    let output: Uint8Array | undefined;
    let initialPages: number | undefined;
    let running: Running | undefined;
    const counted = countRuns(context);
    send({ type: 'begins' });
    for (let run = 0; run < task.repeat && hasSucceeded(ending); run++) {
      stdin.rewind();
      let hasBegun = false;
      let prepared = 0;
      room = createSpanRoom(task.maxSpans);
      try {
        // A command runs once; what has functions to call is used again, as hosts do.
        if (running === undefined || task.program.kind === 'command') {
          running?.close();
          running = instantiate();
          initialize(running, task.program);
        }
        const { exports, memory, plugin } = running;
        // What prepares an instance is shown, and is no part of the run.
        prepared = room.rootNano();
        counted();
        initialPages = memory === undefined ? undefined : memory.buffer.byteLength / 65_536;
        hasBegun = true;
        ({ ending, output } = call(exports, plugin, task));
      } catch (thrown) {
        ending = endingOf(thrown);
      }
      if (hasBegun) send({ type: 'ran', figures: { timeNano: room.rootNano() - prepared, functions: counted() } });
      else break;
    }
    const statistics = context.statistics();
    const dropped = { ...statistics.dropped, spans: statistics.dropped.spans + spansTooMany };
    return {
      ending,
      spans: room.spans,
      timeNano: room.rootNano(),
      statistics: { ...statistics, dropped },
      initialPages,
      output,
    };
  };
}

/** More than anybody reads: what a plugin logs for ever would fill all memory, since nobody takes it as quickly. */
const maxLogs = 10_000;

function limited(log: (text: string) => void): (text: string) => void {
  let logs = 0;
  return (text) => {
    logs += 1;
    if (logs < maxLogs) log(text);
    else if (logs === maxLogs) log('… and more, which is left out');
  };
}

/** Calls what prepares an instance that is no command. */
function initialize({ exports }: Running, program: Program): void {
  if (program.kind === 'command') return;
  if (program.kind === 'plugin') callIfThere(exports.hs_init, 0, 0);
  if (!('invoke' in program) || program.invoke !== '_initialize') callIfThere(exports._initialize);
}

function callIfThere(exported: WebAssembly.ExportValue | undefined, ...args: number[]): void {
  if (typeof exported === 'function') exported(...args);
}

function call(exports: WebAssembly.Exports, plugin: ExtismHost, { program, input }: RunTask): Answer {
  const exported = exports[program.kind === 'command' ? '_start' : program.invoke];
  if (typeof exported !== 'function') throw new Error('the export is gone');
  if (program.kind === 'plugin') return callPlugin(() => exported(), plugin, input);
  const value: unknown = program.kind === 'command' ? exported() : exported(...program.args);
  if (program.kind === 'command') return { ending: { kind: 'returned', exitCode: 0 }, output: undefined };
  return { ending: returned, output: encoder.encode(formatResults(value)) };
}

const returned: Ending = { kind: 'returned', exitCode: undefined };

function hasSucceeded(ending: Ending): boolean {
  return ending.kind === 'returned' && (ending.exitCode ?? 0) === 0;
}

function callPlugin(callExport: () => unknown, plugin: ExtismHost, input: Uint8Array): Answer {
  plugin.begin(input);
  const answered = callExport();
  const { output, error } = plugin.end();
  if (error !== undefined) throw new PluginFailure(`the plugin says: ${error}`);
  if (answered !== undefined && answered !== 0)
    throw new PluginFailure(`the plugin answered ${answered}, which is no success`);
  return { ending: returned, output };
}

/** A plugin that has ended in order, and said that it could not do what it was asked. */
class PluginFailure extends Error {
  override readonly name = 'PluginFailure';
}

/** Why a call failed; nothing for a program that ends itself with success. */
function failureReason(thrown: unknown): string | undefined {
  if (thrown instanceof ProgramExit) return thrown.exitCode === 0 ? undefined : thrown.message;
  if (thrown instanceof Stopped) return 'stopped';
  return reasonOf(thrown);
}

function reasonOf(thrown: unknown): string {
  if (typeof WebAssembly.Exception === 'function' && thrown instanceof WebAssembly.Exception) {
    return 'an exception that nobody caught';
  }
  if (thrown instanceof PluginFailure) return thrown.message;
  if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) return thrown.message;
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}

function endingOf(thrown: unknown): Ending {
  if (thrown instanceof Stopped) return { kind: 'stopped' };
  if (thrown instanceof ProgramExit) return { kind: 'returned', exitCode: thrown.exitCode };
  if (thrown instanceof WebAssembly.LinkError || thrown instanceof WebAssembly.CompileError) {
    return { kind: 'refused', reason: thrown.message.replace(/^WebAssembly\.\w+\(\): /, '') };
  }
  return { kind: 'failed', reason: reasonOf(thrown) };
}

/** The imports of tracing, with a look at every call whether the program is to end. */
function stoppable({ imports }: TraceContext, { check }: Stopper): WebAssembly.Imports {
  const looking = (enter: (index: number) => void) => (index: number) => {
    enter(index);
    check();
  };
  const own = imports['dylibso:observe/instrument'];
  const older = imports.dylibso_observe;
  return {
    ...imports,
    'dylibso:observe/instrument': { ...own, enter: looking(own.enter as (index: number) => void) },
    dylibso_observe: { ...older, instrument_enter: looking(older.instrument_enter as (index: number) => void) },
  };
}

function stubImports(stubs: readonly Stub[]): WebAssembly.Imports {
  return mergeImports(stubs.map((stub) => ({ [stub.module]: { [stub.name]: stubValue(stub) } })));
}

function stubValue(stub: Stub): WebAssembly.ImportValue {
  if (stub.kind === 'memory') {
    const { minimumPages: initial, maximumPages: maximum, isShared: shared } = stub.memory;
    return new WebAssembly.Memory({ initial, ...(maximum !== undefined && { maximum }), shared });
  }
  const values = stub.results.map(zeroOf);
  const answer = values.length > 1 ? values : values[0];
  return () => answer;
}

function zeroOf(type: string): number | bigint | null {
  return type === 'i64' ? 0n : /^[if]\d\d$/.test(type) ? 0 : null;
}

function mergeImports(parts: readonly WebAssembly.Imports[]): WebAssembly.Imports {
  const merged = new Map<string, WebAssembly.ModuleImports>();
  for (const part of parts) {
    for (const [module, fields] of Object.entries(part)) merged.set(module, { ...merged.get(module), ...fields });
  }
  return Object.fromEntries(merged);
}

/** The memory that the host reads and writes: the one of that name, else any that the module exports, else one that it was given. */
function memoryOf(exports: WebAssembly.Exports, imports: WebAssembly.Imports): WebAssembly.Memory | undefined {
  const given = Object.values(imports).flatMap((fields): unknown[] => Object.values(fields));
  return [exports.memory, ...Object.values(exports), ...given].find((value) => value instanceof WebAssembly.Memory);
}

/** Tells what was counted since it was asked last. */
function countRuns(context: TraceContext): () => readonly FunctionRun[] {
  const before = new Map<number, FunctionRun>();
  return () =>
    context.statistics().functions.flatMap((entry): FunctionRun[] => {
      const { index } = entry.function;
      const now = {
        index,
        calls: entry.calls,
        totalNano: Number(entry.totalTimeNano),
        selfNano: Number(entry.selfTimeNano),
      };
      const last = before.get(index);
      before.set(index, now);
      const calls = now.calls - (last?.calls ?? 0);
      if (calls === 0) return [];
      return [
        {
          index,
          calls,
          totalNano: now.totalNano - (last?.totalNano ?? 0),
          selfNano: now.selfNano - (last?.selfNano ?? 0),
        },
      ];
    });
}
