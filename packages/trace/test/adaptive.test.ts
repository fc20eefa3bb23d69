import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { createRandom } from '../../../test/helpers/random.ts';
import { volume } from '../../../test/helpers/volume.ts';
import { wat } from '../../../test/helpers/wat.ts';
import type { TraceOptions } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';
import { observe, tree } from './support/observed.ts';
import { countSpans, replayCalls } from './support/replay-calls.ts';
import { spanTree } from './support/span-tree.ts';

/** `many(n, ns)` calls `inner` n times, which takes ns each time; `deep` is in between and is slow if `inner` is. */
const text = `(module
  (import "host" "wait" (func $wait (param i32)))
  (func $inner (param i32) (call $wait (local.get 0)))
  (func $deep (param i32) (call $inner (local.get 0)) (call $inner (local.get 0)))
  (func $many (export "many") (param $n i32) (param $ns i32)
    (loop (call $deep (local.get $ns))
      (br_if 0 (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func $trap (export "trap") (param $n i32)
    (call $many (local.get $n) (i32.const 10)) (call $fail))
  (func $fail unreachable))`;

type Call = (...args: number[]) => void;

function adaptive(options: TraceOptions = {}, instances = 1) {
  const { bytes } = instrument(wat(text), { adaptive: true, banned: ['host.wait'] });
  const observed = observe(bytes, { spanFilter: { minDurationMicroseconds: 20 }, statistics: true, ...options });
  const wait = (ns: number) => observed.clock.moveNs(ns);
  const all = Array.from({ length: instances }, () => observed.context.instantiateSync({ host: { wait } }).exports);
  const statistics = (name: string) =>
    observed.context.statistics().functions.find((entry) => entry.function.name === name);
  return { ...observed, all, exports: all[0] as Record<string, Call>, statistics };
}

describe('adaptive tracing', () => {
  it('skips most calls of functions that are too short for a span, and counts them all', () => {
    const { exports, statistics, batches } = adaptive();
    exports.many?.(10_000, 10);
    assert.deepEqual(tree(batches[0]), ['many']);
    assert.deepEqual([statistics('deep')?.calls, statistics('inner')?.calls], [10_000, 20_000]);
    assert.ok((statistics('deep')?.untimedCalls ?? 0) > 9_000);
    assert.equal(statistics('many')?.untimedCalls, 0);
    assert.equal(batches[0]?.[0]?.selfTimeNano, 200_000n);
  });

  it('times each call with `adaptive: false`, and of a module that is not adaptive', () => {
    const { exports, statistics } = adaptive({ adaptive: false });
    exports.many?.(1_000, 10);
    assert.deepEqual([statistics('inner')?.calls, statistics('inner')?.untimedCalls], [2_000, 0]);
  });

  it('shows functions that become slow, at the latest after the calls that are skipped already', () => {
    const { exports, batches } = adaptive();
    exports.many?.(10_000, 10);
    exports.many?.(3_000, 100_000);
    const slow = (batches[1] ?? []).filter(({ name }) => name === 'deep').length;
    assert.ok(slow > 1_900, `${slow} spans of deep`);
  });

  it('emits each root, also of a function that skips its calls', () => {
    const { exports, batches } = adaptive();
    exports.many?.(1_000, 10);
    for (let call = 0; call < 100; call++) exports.many?.(1, 10);
    assert.equal(batches.length, 101);
    assert.deepEqual(new Set(batches.flatMap(tree)), new Set(['many']));
  });

  it('ends what a trap left open, and goes on', () => {
    const { exports, batches, statistics } = adaptive();
    assert.throws(() => exports.trap?.(1_000), WebAssembly.RuntimeError);
    exports.many?.(1, 30_000);
    assert.deepEqual(
      batches.map((batch) => tree(batch).map((line) => line.replace(/ !.*/, ' !'))),
      [['trap !', '  many'], ['many']],
    );
    assert.equal(statistics('deep')?.calls, 1_001);
  });

  it('counts the calls of several instances', () => {
    const { all, statistics } = adaptive({}, 3);
    for (const exports of all) (exports.many as Call)(1_000, 10);
    assert.deepEqual([statistics('deep')?.calls, statistics('inner')?.calls], [3_000, 6_000]);
  });

  it('hides its globals from the exports of bound instances', () => {
    assert.deepEqual(Object.keys(adaptive().exports), ['many', 'trap']);
  });

  it('is off where the minimum duration is 0', () => {
    const { exports, batches } = adaptive({ spanFilter: { minDurationMicroseconds: 0 }, limits: { spans: 10_000 } });
    exports.many?.(1_000, 10);
    assert.equal(batches[0]?.length, 3_001);
  });

  const runs = volume(3, 400);
  it(`makes the spans of full tracing to within a hundredth of ${runs} random programs, and counts all calls`, (test) => {
    let wanted = 0;
    let wrong = 0;
    let calls = 0;
    let traced = 0;
    for (let seed = 1; seed <= runs; seed++) {
      const program = randomCalls(seed);
      const full = replayCalls(program, false, 50);
      const skipping = replayCalls(program, true, 50);
      const { originUnixNano } = createManualClock();
      for (const batch of skipping.batches) spanTree(batch, originUnixNano, (index) => index);
      const counts = ({ functions }: typeof full) => functions.map((row) => [row.function.index, row.calls]);
      assert.deepEqual(counts(skipping), counts(full), `seed ${seed}: calls`);
      assert.equal(skipping.batches.length, full.batches.length, `seed ${seed}: roots`);
      const [expected, found] = [countSpans(full.batches), countSpans(skipping.batches)];
      for (const key of new Set([...expected.keys(), ...found.keys()])) {
        wanted += expected.get(key)?.count ?? 0;
        wrong += Math.abs((expected.get(key)?.count ?? 0) - (found.get(key)?.count ?? 0));
      }
      calls += full.tracedCalls;
      traced += skipping.tracedCalls;
    }
    test.diagnostic(`${wanted} spans, ${wrong} differ; ${traced} of ${calls} calls traced`);
    assert.ok(wrong <= wanted / 100, `${wrong} of ${wanted} spans differ`);
    assert.ok(traced < calls / 2, `${traced} of ${calls} calls are traced`);
  });

  it('is not disturbed by a module that exports other things by the same names', () => {
    const run = `(func (export "run") (local $i i32) (loop (call $enter (i32.const 2)) (call $exit (i32.const 2))
      (br_if 0 (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 100))))
      (global.set $start (f64.const -inf)) (call $exit (i32.const -3)))`;
    const shared = (clock = '(mut f64) (f64.const 1)') => `
      (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
      (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
      (global (export "tenon:clock") ${clock})
      (global (export "tenon:clock-step") (mut f64) (f64.const 0))
      (global (export "tenon:min-duration") (mut f64) (f64.const 1))
      (global $start (export "tenon:skipped-call-start") (mut f64) (f64.const 0))`;
    for (const module of [
      `(module ${shared('f64 (f64.const 1)')} ${run})`,
      `(module ${shared('(mut i64) (i64.const 1)')} ${run})`,
      `(module (global (export "tenon:clock") (mut f64) (f64.const 1)))`,
      `(module ${shared()} ${run} (global (export "tenon:skip:4294967294") (mut i32) (i32.const 0)))`,
      `(module ${shared()} ${run} (global (export "tenon:skip:2") i32 (i32.const 0)))`,
      `(module ${shared()} ${run} (global (export "tenon:skip:2") (mut i64) (i64.const 0)))`,
    ]) {
      const { context } = observe(wat(module), { spanFilter: { minDurationMicroseconds: 20 } });
      (context.instantiateSync().exports as Record<string, Call>).run?.();
      context.statistics();
    }
  });

  it('hides only its own exports', () => {
    const { bytes } = instrument(wat(text), { adaptive: true, fuel: 1_000 });
    const { context } = observe(bytes, { spanFilter: { minDurationMicroseconds: 20 } });
    const exports = Object.keys(context.instantiateSync({ host: { wait() {} } }).exports);
    assert.deepEqual(exports, ['many', 'trap', 'tenon:fuel']);
  });
});

/** Calls of functions, each of which calls some others a number of times that changes now and then. */
function randomCalls(seed: number): number[] {
  const random = createRandom(seed);
  const functions = 12;
  const callees = Array.from({ length: functions }, (_, index) =>
    index < 4 ? [] : Array.from({ length: 3 }, () => random.pick(Array.from({ length: index }, (__, lower) => lower))),
  );
  const calls: number[] = [];
  const maxEvents = 60_000;
  const call = (index: number): void => {
    if (calls.length > maxEvents) return;
    calls.push(index);
    const repeats = random.pick([1, 1, 1, 2, 8]);
    for (const callee of callees[index] as number[]) for (let turn = 0; turn < repeats; turn++) call(callee);
    calls.push(~index);
  };
  while (calls.length < maxEvents) call(random.pick([11, 11, 10, 5]));
  return calls;
}
