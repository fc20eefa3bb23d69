import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { parseConfiguration, type Span, start, type TraceOptions } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';

/** `outer` calls `middle`, which calls `inner`; all that passes the time is the host's `work`. */
const module = new WebAssembly.Module(
  new Uint8Array(
    wat(`(module
      (import "host" "work" (func $work (param i32)))
      (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
      (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
      (import "dylibso:observe/instrument" "memory-grow" (func $grow (param i32)))
      (func $inner (param i32)
        (call $enter (i32.const 4)) (call $work (local.get 0)) (call $grow (i32.const 3)) (call $exit (i32.const 4)))
      (func $middle (param i32 i32)
        (call $enter (i32.const 5)) (call $inner (local.get 0)) (call $work (local.get 1)) (call $exit (i32.const 5)))
      (func $outer (export "outer") (param i32 i32 i32)
        (call $enter (i32.const 6))
        (call $middle (local.get 0) (local.get 1)) (call $work (local.get 2))
        (call $exit (i32.const 6))))`),
  ),
);

/** The spans of one call in which `inner` lasts that long, `middle` and `outer` so much longer; all in nanoseconds. */
function spansOf(
  options: TraceOptions,
  innerNs: number,
  middleNs = 0,
  outerNs = 0,
  beganNs = 0,
): Readonly<Record<string, Span>> {
  const clock = createManualClock();
  clock.moveNs(beganNs);
  const spans: Span[] = [];
  const context = start(module, { ...options, clock, exporters: [{ export: (batch) => void spans.push(...batch) }] });
  const { exports } = context.instantiateSync({ host: { work: clock.moveNs } });
  (exports.outer as (...ns: number[]) => void)(innerNs, middleNs, outerNs);
  return Object.fromEntries(spans.map((span) => [span.name, span]));
}

const namesOf = (...args: Parameters<typeof spansOf>) => Object.keys(spansOf(...args)).join(' ');

describe('start() with spanFilter.minDurationMicroseconds', () => {
  it('leaves out what is shorter than 20 µs, and keeps what is as long', () => {
    assert.equal(namesOf({}, 19_999), 'outer');
    assert.equal(namesOf({}, 20_000), 'outer middle inner');
    assert.equal(namesOf({}, 20_001), 'outer middle inner');
    assert.equal(namesOf({}, 19_999, 1), 'outer middle');
  });

  it('is as exact wherever the clock stands', () => {
    for (let beganNs = 0; beganNs < 3_600e9; beganNs = beganNs * 3 + 1_234_567) {
      assert.equal(namesOf({}, 19_999, 0, 0, beganNs), 'outer', `${beganNs} ns after the beginning`);
      assert.equal(namesOf({}, 20_000, 0, 0, beganNs), 'outer middle inner', `${beganNs} ns after the beginning`);
    }
  });

  it('counts folded calls in the span around them', () => {
    const { outer, middle, ...rest } = spansOf({}, 19_999, 1, 500);
    assert.deepEqual(rest, {});
    assert.deepEqual(middle?.folded, { calls: 1, timeNano: 19_999n });
    assert.deepEqual([middle?.selfTimeNano, middle?.grownPages], [20_000n, 3]);
    assert.deepEqual(
      middle?.events.map(({ name, attributes }) => [name, attributes.get('pages')]),
      [['memory.grow', 3]],
    );
    assert.deepEqual(outer?.folded, { calls: 0, timeNano: 0n });
    assert.deepEqual([outer?.selfTimeNano, outer?.grownPages, outer?.events.length], [500n, 0, 0]);

    const { outer: alone } = spansOf({}, 10_000, 9_000, 500);
    assert.deepEqual(alone?.folded, { calls: 2, timeNano: 19_000n });
    assert.deepEqual([alone?.selfTimeNano, alone?.grownPages, alone?.events.length], [19_500n, 3, 1]);
  });

  it('keeps everything with 0, also what takes no time at all', () => {
    const options = { spanFilter: { minDurationMicroseconds: 0 } };
    assert.equal(namesOf(options, 0), 'outer middle inner');
  });

  it('keeps the root alone where nothing is long enough', () => {
    for (const minDurationMicroseconds of [1e9, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE]) {
      assert.equal(namesOf({ spanFilter: { minDurationMicroseconds } }, 1e9, 1e9, 1e9), 'outer');
    }
  });

  it('takes parts of microseconds', () => {
    const options = { spanFilter: { minDurationMicroseconds: 0.25 } };
    assert.equal(namesOf(options, 249), 'outer');
    assert.equal(namesOf(options, 250), 'outer middle inner');
  });

  it('is spelled in JSON as the interface spells it', () => {
    const options = parseConfiguration('{"span_filter": {"min_duration_microseconds": 50}}');
    assert.equal(namesOf(options, 49_999), 'outer');
    assert.equal(namesOf(options, 50_000), 'outer middle inner');
  });

  it('refuses what is no duration, and says where it stands', () => {
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, '20', null]) {
      const options = { spanFilter: { minDurationMicroseconds: value as number } };
      assert.throws(
        () => start(module, options),
        ({ code, faults }) => {
          assert.deepEqual([code, faults[0].pointer], ['invalid_option', '/spanFilter/minDurationMicroseconds']);
          return true;
        },
      );
    }
    assert.throws(
      () => parseConfiguration({ span_filter: { min_duration_ms: 1 } }),
      ({ faults }) => faults[0].pointer === '/span_filter/min_duration_ms',
    );
  });
});
