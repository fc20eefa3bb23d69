import assert from 'node:assert/strict';
import { instrument } from '@tenon/instrument';
import { encode } from '../../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../../test/helpers/call-trees/make-program.ts';
import {
  type Prediction,
  predict,
  programSteps,
  untracedNames,
} from '../../../../test/helpers/call-trees/run-program.ts';
import { createRandom } from '../../../../test/helpers/random.ts';
import { type FunctionStatistics, type Span, start } from '../../src/index.ts';
import { type ExpectedSpan, expectedSpan, withAllWithin } from './expected-spans.ts';
import { type ExpectedStatistics, expectedStatistics } from './expected-statistics.ts';
import { createManualClock } from './manual-clock.ts';
import { spanTree } from './span-tree.ts';
import { stepping } from './stepping.ts';

/** What one program showed. */
export interface Tally {
  readonly roots: number;
  readonly spans: number;
  readonly folded: number;
  readonly failed: number;
  readonly growths: number;
}

/**
 * How the module is run: by `instantiate()`, where the clock stands still and all calls count; by `bind()`, with a clock that
 * moves on before each event; or with the imports alone, likewise.
 */
export type Way = 'instantiate' | 'bind' | 'events';

const maxSteps = 6_000;
const maxFuel = 12;
/** Nanoseconds that pass before an event: often just what the minima compare with, and one less, and one more. */
const stepsNs = [0, 0, 1, 100, 999, 1_000, 6_500, 19_999, 20_000, 20_001, 1_000_000];
const minimaUs = [0, 0.001, 1, 20, 20, 20, 20.001, 100, 1e9];

/**
 * Makes the program of a seed, instruments it, and has it run under the adapter. The spans must be those that follow from the
 * model's tree of calls, to the nanosecond. Undefined where events alone can't tell the tree: calls were left without their
 * exits, and calls around them go on.
 */
export async function checkSpanTree(seed: number, way: Way): Promise<Tally | undefined> {
  const program = makeProgram(seed);
  const expected = predict(program, maxSteps, maxFuel);
  if (way === 'events' && goesOnAfterTraps(expected)) return undefined;
  const { bytes, report } = instrument(encode(program, seed), {
    banned: untracedNames(program),
    exceptionHandling: seed & 1 ? 'exnref' : 'legacy',
  });
  const importCount = program.imports.length;
  const indexOf = (index: number) => (index < importCount ? index : index - report.addedImports.length);

  const random = createRandom(seed);
  const minDurationMicroseconds = way === 'instantiate' ? 0 : random.pick(minimaUs);
  const clock = createManualClock();
  const times = [clock.nowNs()];
  const step = () => {
    clock.moveNs(random.pick(stepsNs));
    times.push(clock.nowNs());
  };
  const timeNs = (tick: number) => times[way === 'instantiate' ? 0 : tick] as number;
  const batches: (readonly Span[])[] = [];
  const module = new WebAssembly.Module(new Uint8Array(bytes));
  const context = start(module, {
    spanFilter: { minDurationMicroseconds },
    exporters: [{ export: (spans) => void batches.push(spans) }],
    limits: { events: 10_000 },
    // Another way through the adapter, which must come to the same.
    statistics: (seed & 2) !== 0,
    clock,
  });
  const steps = programSteps(program, expected.calls, (imports) => {
    if (way === 'instantiate') return context.instantiateSync(imports).exports;
    const instantiate = () => new WebAssembly.Instance(module, { ...imports, ...stepping(context.imports, step) });
    // The start function is no export that could be bound.
    return way === 'bind' ? context.bind(context.run(instantiate)).exports : instantiate().exports;
  });
  let ended = steps.next();
  for (; !ended.done; ended = steps.next()) {
    // Only the host knows of a trap. Once its code has returned, all open calls have ended.
    if (way === 'events') await undefined;
  }
  assert.deepEqual(ended.value, expected.outcomes, `seed ${seed}: the traced module ends as the original`);
  void context.shutdown();
  const found = batches.map((batch) => spanTree(batch, clock.originUnixNano, indexOf));
  const wanted = expected.roots.flat().map((root) => expectedSpan(root, timeNs, minDurationMicroseconds * 1_000));
  assert.deepEqual(found, wanted, `seed ${seed}: the spans are those of the model`);
  const { functions, dropped } = context.statistics();
  if ((seed & 2) !== 0) {
    const counted = functions.map((row) => describeStatistics(row, indexOf));
    const sorted = counted.sort((first, second) => first.index - second.index);
    assert.deepEqual(sorted, expectedStatistics(expected.roots.flat(), timeNs), `seed ${seed}: the statistics`);
  }
  const shown = tally(expected.roots.flat().map((root) => expectedSpan(root, timeNs, 0)));
  const unmatched = way === 'events' ? shown.failed : 0;
  assert.deepEqual({ ...dropped, events: 0 }, { ...nothingDropped, unmatched }, `seed ${seed}: nothing is dropped`);
  return tally(wanted);
}

function describeStatistics(row: FunctionStatistics, indexOf: (index: number) => number): ExpectedStatistics {
  return {
    index: indexOf(row.function.index),
    calls: row.calls,
    failures: row.failures,
    totalNs: Number(row.totalTimeNano),
    selfNs: Number(row.selfTimeNano),
    maxNs: Number(row.maxTimeNano),
    grownPages: row.grownPages,
  };
}

/** Growth while no call is open has nowhere to go, and counts among the events. */
const nothingDropped = { spans: 0, depth: 0, events: 0, attributes: 0, functions: 0, unmatched: 0, exports: 0 };

/** Whether anything happens after the host has caught what ended calls, before its own code is done. */
function goesOnAfterTraps({ roots }: Prediction): boolean {
  return roots.some((turn) => {
    const last = turn.at(-1)?.endTick;
    return turn.flatMap(withAllWithin).some(({ ending, endTick }) => ending !== 'exit' && endTick !== last);
  });
}

function tally(roots: readonly ExpectedSpan[]): Tally {
  const all = roots.flatMap(withSpansWithin);
  return {
    roots: roots.length,
    spans: all.length,
    folded: all.reduce((sum, { folded }) => sum + folded.calls, 0),
    failed: all.filter(({ failed }) => failed).length,
    growths: all.reduce((sum, { growths }) => sum + growths.length, 0),
  };
}

function withSpansWithin(span: ExpectedSpan): ExpectedSpan[] {
  return [span, ...span.spans.flatMap(withSpansWithin)];
}
