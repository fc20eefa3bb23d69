import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallNode } from '../../../test/helpers/call-trees/model.ts';
import { createRandom } from '../../../test/helpers/random.ts';
import { volume } from '../../../test/helpers/volume.ts';
import { wat } from '../../../test/helpers/wat.ts';
import { type Span, start } from '../src/index.ts';
import { expectedSpan, withAllWithin } from './support/expected-spans.ts';
import { createManualClock } from './support/manual-clock.ts';
import {
  makeOlderProgram,
  type OlderNamespace,
  olderModule,
  olderNames,
  predictOlder,
} from './support/older-service.ts';
import { spanTree } from './support/span-tree.ts';
import { stepping } from './support/stepping.ts';

const programCount = volume(50, 500);
const stepsNs = [0, 1, 999, 6_500, 19_999, 20_000, 20_001];

/** Runs a program as the older service instruments it; the spans must be those of its own hooks. Returns how many there are. */
function check(seed: number, namespace: OlderNamespace): { spans: number; calls: number } {
  const program = makeOlderProgram(seed);
  const module = new WebAssembly.Module(new Uint8Array(wat(olderModule(program, namespace))));
  const random = createRandom(seed);
  const clock = createManualClock();
  const times = [clock.nowNs()];
  const batches: (readonly Span[])[] = [];
  const context = start(module, {
    exporters: [{ export: (spans) => void batches.push(spans) }],
    limits: { events: 10_000 },
    clock,
  });
  const hooks = stepping(context.imports, () => {
    clock.moveNs(random.pick(stepsNs));
    times.push(clock.nowNs());
  });
  let exports: Record<string, (fuel: number) => void> = {};
  const enter = (target: number, fuel: number) => {
    try {
      exports[`f${target}`]?.(fuel);
    } catch (error) {
      assert.ok(error instanceof WebAssembly.RuntimeError, String(error));
    }
  };
  exports = context.bind(new WebAssembly.Instance(module, { env: { enter }, ...hooks })).exports as typeof exports;

  const roots: CallNode[] = [];
  for (let fuel = 1, tick = 0; fuel <= 4; fuel++) {
    for (const index of program.keys()) {
      const expected = predictOlder(program, index, fuel, tick);
      if (expected === undefined) continue;
      const call = () => exports[`f${index}`]?.(fuel);
      if (expected.isTrap) assert.throws(call, WebAssembly.RuntimeError, `seed ${seed}`);
      else call();
      ({ tick } = expected);
      roots.push(...expected.roots);
    }
  }
  const found = batches.map((batch) => spanTree(batch, clock.originUnixNano, (index) => index));
  const wanted = roots.map((root) => expectedSpan(root, (tick) => times[tick] as number, 20_000));
  assert.deepEqual(found, wanted, `seed ${seed}: the spans are those of the hooks`);
  return { spans: batches.flat().length, calls: roots.flatMap(withAllWithin).length };
}

describe('start() on modules as the older service makes them', () => {
  for (const namespace of Object.keys(olderNames) as OlderNamespace[]) {
    it(`gives the right spans of ${programCount} modules that import ${namespace}`, (test) => {
      let spans = 0;
      let calls = 0;
      for (let seed = 1; seed <= programCount; seed++) {
        const tally = check(seed, namespace);
        spans += tally.spans;
        calls += tally.calls;
      }
      test.diagnostic(`${calls} calls, ${spans} spans`);
      assert.ok(spans > 10 * programCount && calls > spans + 10 * programCount, `${spans} spans of ${calls} calls`);
    });
  }

  it('goes on where an exception left calls without their exits, as that service does', () => {
    // `outer` catches what `thrower` throws through `middle`: neither has its exit. The host sees nothing of it.
    const text = `(module
      (import "dylibso_observe" "instrument_enter" (func $enter (param i32)))
      (import "dylibso_observe" "instrument_exit" (func $exit (param i32)))
      (tag $e)
      (func $thrower (throw $e))
      (func $middle (call $enter (i32.const 2)) (call $thrower) (call $exit (i32.const 2)))
      (func $outer
        (block $caught
          (try_table (catch $e $caught)
            (call $enter (i32.const 3)) (call $middle) (call $exit (i32.const 3)))))
      (func (export "run")
        (call $enter (i32.const 4)) (call $outer) (call $exit (i32.const 4))))`;
    const batches: (readonly Span[])[] = [];
    const module = new WebAssembly.Module(new Uint8Array(wat(text)));
    const context = start(module, {
      spanFilter: { minDurationMicroseconds: 0 },
      exporters: [{ export: (spans) => void batches.push(spans) }],
    });
    const run = context.instantiateSync().exports.run as () => void;
    run();
    run();
    assert.equal(batches.length, 2);
    for (const batch of batches) {
      assert.deepEqual(
        batch.map(
          (span) => `${span.name} ${span.status.code} ${batch.findIndex((s) => s.spanId === span.parentSpanId)}`,
        ),
        ['outer unset -1', 'middle error 0', 'thrower error 1'],
      );
    }
    assert.equal(context.statistics().dropped.unmatched, 4);
  });

  it('ends nothing around a call of the host by an exit within it that has no enter', () => {
    const text = `(module
      (import "dylibso_observe" "instrument_enter" (func $enter (param i32)))
      (import "dylibso_observe" "instrument_exit" (func $exit (param i32)))
      (import "host" "again" (func $again))
      (func $outer (export "outer")
        (call $enter (i32.const 3)) (call $again) (call $inner) (call $exit (i32.const 3)))
      (func $inner (export "inner")
        (call $exit (i32.const 3)) (call $enter (i32.const 4)) (call $exit (i32.const 4))))`;
    const spans: Span[] = [];
    const context = start(new WebAssembly.Module(new Uint8Array(wat(text))), {
      spanFilter: { minDurationMicroseconds: 0 },
      exporters: [{ export: (batch) => void spans.push(...batch) }],
    });
    let inner = () => {};
    const { exports } = context.instantiateSync({ host: { again: () => inner() } });
    inner = exports.inner as () => void;
    (exports.outer as () => void)();
    // Called by the module itself, `inner` does end `outer`, and starts a new root.
    const names = spans.map((span) => `${span.name} in ${spans.find((s) => s.spanId === span.parentSpanId)?.name}`);
    assert.deepEqual(names, ['outer in undefined', 'inner in outer', 'inner in undefined']);
    assert.equal(context.statistics().dropped.unmatched, 2);
  });
});
