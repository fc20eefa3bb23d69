import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { wat } from '../../../test/helpers/wat.ts';
import { type Span, start } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';
import { stepping } from './support/stepping.ts';

/** `dive` calls itself as often as its first argument says, and traps at the bottom if the second is 1. */
const text = `(module
  (func $dive (export "dive") (param i32 i32)
    (if (local.get 0)
      (then (call $dive (i32.sub (local.get 0) (i32.const 1)) (local.get 1)))
      (else (if (local.get 1) (then (unreachable)))))))`;
const module = new WebAssembly.Module(new Uint8Array(instrument(wat(text)).bytes));
const eventNs = 1_000;

/** One event takes a microsecond. */
function trace(depth: number) {
  const clock = createManualClock();
  const batches: (readonly Span[])[] = [];
  const context = start(module, {
    spanFilter: { minDurationMicroseconds: 0 },
    exporters: [{ export: (spans) => void batches.push(spans) }],
    limits: { depth },
    statistics: true,
    clock,
  });
  const hooks = stepping(context.imports, () => clock.moveNs(eventNs));
  const { exports } = context.bind(new WebAssembly.Instance(module, hooks));
  const dive = (calls: number, traps = false) => {
    try {
      (exports.dive as (below: number, traps: number) => void)(calls - 1, Number(traps));
    } catch (error) {
      assert.ok(traps && error instanceof WebAssembly.RuntimeError);
    }
  };
  return { context, batches, dive };
}

describe('start() with limits.depth', () => {
  for (const depth of [1, 2, 5, 64, 100, 1_000]) {
    it(`keeps ${depth} calls within each other, and counts and times rightly before, at and beyond`, () => {
      const { context, batches, dive } = trace(depth);
      const dives = [depth - 1, depth, depth + 1, 3 * depth + 70, depth].filter((calls) => calls > 0);
      for (const calls of dives) dive(calls);
      const kept = dives.map((calls) => Math.min(calls, depth));
      assert.deepEqual(
        batches.map((spans) => spans.length),
        kept,
      );
      for (const [place, spans] of batches.entries()) {
        const calls = dives[place] as number;
        // Two events a call, of which the first begins the time.
        const ns = (2 * calls - 1) * eventNs;
        assert.equal((spans[0]?.endTimeUnixNano ?? 0n) - (spans[0]?.startTimeUnixNano ?? 0n), BigInt(ns));
      }
      const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
      const { functions, dropped } = context.statistics();
      assert.equal(functions[0]?.calls, sum(kept));
      assert.equal(functions[0]?.totalTimeNano, BigInt(sum(dives.map((calls) => (2 * calls - 1) * eventNs))));
      assert.equal(dropped.depth, sum(dives) - sum(kept));
      assert.equal(dropped.unmatched, 0);
    });

    it(`starts again after a trap beyond ${depth}`, () => {
      const { context, batches, dive } = trace(depth);
      dive(depth + 3, true);
      dive(depth);
      assert.deepEqual(
        batches.map((spans) => [spans.length, spans.filter(({ status }) => status.code === 'error').length]),
        [
          [depth, depth],
          [depth, 0],
        ],
      );
      const { functions, dropped } = context.statistics();
      assert.deepEqual([functions[0]?.calls, functions[0]?.failures, dropped.depth], [2 * depth, depth, 3]);
      assert.equal(functions[0]?.totalTimeNano, BigInt((depth + 2 + 2 * depth - 1) * eventNs));
    });
  }

  it('lets a call by the host beyond the depth end no call outside of it', () => {
    const { imports, run, statistics, batches } = eventsAlone(2);
    const { enter, exit } = imports;
    run(() => {
      for (const func of [1, 2, 3]) enter(func);
      run(() => {
        enter(3);
        exit(3);
        for (const func of [3, 2, 1]) exit(func);
      });
      for (const func of [3, 2, 1]) exit(func);
      enter(1);
      exit(1);
    });
    assert.deepEqual(
      batches.map((spans) => spans.map(({ status }) => status.code)),
      [['unset', 'unset'], ['unset']],
    );
    const { depth, unmatched } = statistics().dropped;
    assert.deepEqual([depth, unmatched], [2, 3]);
  });

  it('keeps the depth of the calls outside when a call by the host leaves too deep calls open', () => {
    const { imports, run, statistics, batches } = eventsAlone(2);
    const { enter, exit } = imports;
    run(() => {
      for (const func of [1, 2, 3]) enter(func);
      run(() => {
        for (const func of [1, 2, 3]) enter(func);
      });
      for (const func of [3, 2, 1]) exit(func);
    });
    assert.deepEqual(
      batches.map((spans) => spans.map(({ status }) => status.code)),
      [['unset', 'unset']],
    );
    const { depth, unmatched } = statistics().dropped;
    assert.deepEqual([depth, unmatched], [4, 0]);
  });
});

/** A context whose events the test sends itself. */
function eventsAlone(depth: number) {
  const batches: (readonly Span[])[] = [];
  const { imports, run, statistics } = start(module, {
    spanFilter: { minDurationMicroseconds: 0 },
    exporters: [{ export: (spans) => void batches.push(spans) }],
    limits: { depth },
  });
  const hooks = imports['dylibso:observe/instrument'] as Record<'enter' | 'exit', (func: number) => void>;
  return { imports: hooks, run, statistics, batches };
}
