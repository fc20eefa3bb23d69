// Runs one of the programs in one of the ways, over and over, and prints what it took: a process of its own, since the engine
// is intercepted and its compilers learn.
import process from 'node:process';
import { type InstrumentOptions, instrument } from '@tenon/instrument';
import { interceptEngine } from '../../../../test/helpers/real-programs/engine.ts';
import { type FunctionStatistics, type SpanExporter, start, type TraceContext } from '../../src/index.ts';
import { nameFunctions } from './name-functions.ts';
import { programs } from './programs.ts';

/** How a program is run; `hooks` is instrumented, with hooks that do nothing; `coverage` and `fuel` don't trace. */
export type Way = 'bare' | 'coverage' | 'fuel' | 'hooks' | 'all' | 'banned' | 'allowed' | 'profile';

/** What is handed over as the one argument, in JSON. */
export interface OverheadTask {
  readonly program: string;
  readonly way: Way;
  /** Names for `banned` and `allowed`. */
  readonly names: readonly string[];
  readonly budgetMs: number;
}

/** What is printed, in JSON. */
export interface OverheadResult {
  readonly bestMs: number;
  readonly medianMs: number;
  /** Of one run: calls that were traced, and spans that came of them. */
  readonly calls: number;
  readonly spans: number;
  /** The names of the ten functions that are called most; of `profile` alone. */
  readonly mostCalled: readonly string[];
  /** The name of the function that most time is spent in itself; of `profile` alone. */
  readonly busiest: string | undefined;
}

const task = JSON.parse(process.argv[2] ?? '') as OverheadTask;
const prepare = programs[task.program] as (typeof programs)[string];
const contexts = new Map<WebAssembly.Module, TraceContext>();
let calls = 0;
let spans = 0;

/** Instrumented with empty hooks: the cost of leaving the module twice per call. */
const deafHooks = {
  'dylibso:observe/instrument': {
    enter() {
      calls++;
    },
    exit() {},
    'memory-grow'() {},
  },
};

const exporter: SpanExporter = {
  export(batch) {
    spans += batch.length;
    for (const { folded } of batch) calls += 1 + folded.calls;
  },
};

function contextOf(module: WebAssembly.Module): TraceContext {
  const known = contexts.get(module);
  if (known !== undefined) return known;
  const context = start(module, { exporters: [exporter], statistics: task.way === 'profile' });
  contexts.set(module, context);
  return context;
}

if (task.way === 'coverage' || task.way === 'fuel') {
  const options: InstrumentOptions = task.way === 'fuel' ? { fuel: Number.MAX_SAFE_INTEGER } : { coverage: true };
  interceptEngine({ transform: (bytes) => instrument(bytes, { trace: false, ...options }).bytes, imports: () => ({}) });
} else if (task.way !== 'bare') {
  const isDeaf = task.way === 'hooks';
  const selection: InstrumentOptions =
    task.way === 'banned' || task.way === 'allowed' ? { [task.way]: task.names } : {};
  interceptEngine({
    transform: (bytes) => instrument(nameFunctions(bytes), selection).bytes,
    imports: (module) => (isDeaf ? deafHooks : contextOf(module).imports),
    bind: (instance, module) => (isDeaf ? instance : contextOf(module).bind(instance)),
  });
}

const run = await prepare();
const minRounds = task.way === 'profile' ? 1 : 5;
const times: number[] = [];
const deadline = performance.now() + task.budgetMs;
while (times.length < minRounds || performance.now() < deadline) {
  calls = 0;
  spans = 0;
  const begin = performance.now();
  await run();
  times.push(performance.now() - begin);
}
times.sort((first, second) => first - second);
const functions = [...contexts.values()].flatMap((context) => context.statistics().functions);
const mostOf = (measure: (row: FunctionStatistics) => number) =>
  functions.toSorted((first, second) => measure(second) - measure(first)).map((row) => row.function.rawName);
const result: OverheadResult = {
  bestMs: times[0] ?? Number.NaN,
  medianMs: times[times.length >> 1] ?? Number.NaN,
  calls,
  spans,
  mostCalled: mostOf((row) => row.calls).slice(0, 10),
  busiest: mostOf((row) => Number(row.selfTimeNano))[0],
};
console.log(JSON.stringify(result));
