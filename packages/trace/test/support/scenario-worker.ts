import { parentPort, workerData } from 'node:worker_threads';
import { describeModule, instrument } from '@tenon/instrument';
import { countWithBinaryen } from '../../../../test/helpers/real-programs/binaryen-count.ts';
import { interceptEngine } from '../../../../test/helpers/real-programs/engine.ts';
import { scenarios } from '../../../../test/helpers/real-programs/scenarios.ts';
import { type Span, start, type TraceContext } from '../../src/index.ts';

/** `counted`: binaryen puts a counter into every function, and nothing of ours takes part. */
export type Mode = 'traced' | 'counted';

/** What came of one run of a scenario, for its first module. Counts are by function index in the input. */
export interface Outcome {
  readonly result: unknown;
  readonly calls: Map<number, number>;
  /** Calls of imports as JavaScript around the import object counted them, by `module.field`. */
  readonly importCalls: Map<string, number>;
  /** The same by the adapter's statistics. */
  readonly tracedImports: Map<string, number>;
  readonly roots: number;
  readonly spans: number;
  /** Calls that got no span, by what the spans say of them. */
  readonly folded: number;
  readonly dropped: Record<string, number>;
  /** What is wrong with the arithmetic of the spans. */
  readonly faults: string[];
}

const { scenario, mode } = workerData as { scenario: string; mode: Mode };
const counted = new Map<number, number>();
const importCalls = new Map<string, number>();
const contexts = new Map<WebAssembly.Module, TraceContext>();
const bump = <Key>(map: Map<Key, number>, key: Key) => map.set(key, (map.get(key) ?? 0) + 1);
const faults: string[] = [];
const tally = { roots: 0, spans: 0, folded: 0 };
let importNames: string[] | undefined;
let addedImports = 0;

/** Every nanosecond of a span is its own, or one of the spans in it; every call within is a span, or folded. */
function checkBatch(batch: readonly Span[]): void {
  tally.roots++;
  tally.spans += batch.length;
  const restOf = new Map(batch.map((span) => [span.spanId, span.endTimeUnixNano - span.startTimeUnixNano]));
  for (const span of batch) {
    tally.folded += span.folded.calls;
    const { parentSpanId = '' } = span;
    const rest = restOf.get(parentSpanId);
    if (rest !== undefined) restOf.set(parentSpanId, rest - (span.endTimeUnixNano - span.startTimeUnixNano));
  }
  for (const { name, spanId, selfTimeNano, folded } of batch) {
    if (selfTimeNano !== restOf.get(spanId)) faults.push(`${name}: ${selfTimeNano} ns of ${restOf.get(spanId)}`);
    if (folded.timeNano > selfTimeNano) faults.push(`${name}: more time was folded than the span has itself`);
  }
  if (batch.some((span, place) => place > 0 && span.parentSpanId === undefined)) faults.push('a second root');
}

function contextOf(module: WebAssembly.Module): TraceContext {
  const context = contexts.get(module) ?? start(module, { exporters: [{ export: checkBatch }], statistics: true });
  contexts.set(module, context);
  return context;
}

interceptEngine({
  transform(bytes) {
    // Emscripten makes small modules later, around one function each.
    const isFirst = importNames === undefined;
    importNames ??= describeModule(bytes).imports.flatMap(({ module, name, kind }) =>
      kind === 'function' ? [`${module}.${name}`] : [],
    );
    if (mode === 'counted') return countWithBinaryen(bytes);
    const { bytes: output, report } = instrument(bytes);
    if (isFirst) addedImports = report.addedImports.length;
    return output;
  },
  imports: (module) =>
    mode === 'counted'
      ? { 'tenon-test': { count: (index: number) => bump(counted, index) } }
      : contextOf(module).imports,
  bind: (instance, module) => (mode === 'counted' ? instance : contextOf(module).bind(instance)),
  onImportCall: (name) => bump(importCalls, name),
});
const result = await scenarios[scenario]?.();
const names = importNames ?? [];
const statistics = [...contexts.values()][0]?.statistics();
const rows = (statistics?.functions ?? []).map((row) => [row.function.index, row.calls] as const);
const isImport = ([index]: readonly [number, number]) => index < names.length;
const outcome: Outcome = {
  result,
  calls:
    mode === 'counted'
      ? counted
      : new Map(rows.filter((row) => !isImport(row)).map(([index, calls]) => [index - addedImports, calls])),
  importCalls,
  tracedImports: new Map(rows.filter(isImport).map(([index, calls]) => [names[index] as string, calls])),
  ...tally,
  dropped: { ...statistics?.dropped },
  faults,
};
parentPort?.postMessage(outcome);
