import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hookImports, moduleOf, observe, tree } from '../test/support/observed.ts';

const module = moduleOf(`(module ${hookImports}
  (import "env" "wait" (func $wait (param i32) (result i32)))
  (func $inner (param i32) (result i32)
    (call $enter (i32.const 4)) (call $wait (local.get 0)) (call $exit (i32.const 4)))
  (func $twice (export "twice") (param i32) (result i32)
    (call $enter (i32.const 5))
    (i32.add (call $inner (local.get 0)) (call $inner (local.get 0)))
    (call $exit (i32.const 5)))
  (func $fails (export "fails") (param i32)
    (call $enter (i32.const 6)) (drop (call $inner (local.get 0))) unreachable)
  (func $plain (export "plain") (call $enter (i32.const 7)) (call $exit (i32.const 7)))
  (func $quiet (export "quiet") (param i32) (result i32) (call $wait (local.get 0))))`);

type Waiting = (value: number) => Promise<unknown>;

/** An instance whose import waits until the test lets it go on. */
function suspendable(options = {}) {
  const observed = observe(module, options);
  const { context } = observed;
  const gates: PromiseWithResolvers<number>[] = [];
  const wait = context.suspending((value: number) => {
    if (value === 0) return 1;
    const gate = Promise.withResolvers<number>();
    gates.push(gate);
    return gate.promise;
  });
  const { exports } = context.instantiateSync({ env: { wait } });
  const promising = (name: string) => context.promising(exports[name] as (value: number) => unknown) as Waiting;
  return { ...observed, exports, gates, promising, plain: exports.plain as () => void };
}

/** Lets everything run that waits for nothing. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('promising() and suspending()', () => {
  it('keep calls apart that wait at the same time', async () => {
    const { promising, gates, batches, plain } = suspendable();
    const twice = promising('twice');
    const results = [twice(1), twice(2), twice(3)];
    plain();
    for (const place of [2, 0, 1]) {
      gates[place]?.resolve(place);
      await settle();
      plain();
    }
    for (const gate of gates.slice(3).reverse()) gate.resolve(10);
    assert.deepEqual(await Promise.all(results), [10, 11, 12]);
    const whole = ['twice', '  inner', '  inner'];
    const alone = ['plain'];
    assert.deepEqual(batches.map(tree), [alone, alone, alone, alone, whole, whole, whole]);
    assert.equal(new Set(batches.map(([root]) => root?.traceId)).size, 7);
  });

  it('count the time of waiting in the call that waits', async () => {
    const { promising, gates, batches, clock } = suspendable();
    const result = promising('twice')(1);
    for (let place = 0; place < 2; place++) {
      clock.moveNs(1_000);
      gates[place]?.resolve(0);
      await settle();
    }
    await result;
    assert.deepEqual(
      batches[0]?.map(({ startTimeUnixNano, endTimeUnixNano }) => endTimeUnixNano - startTimeUnixNano),
      [2_000n, 1_000n, 1_000n],
    );
  });

  it('go on rightly with promises that have settled, and with what is none', async () => {
    const { context, batches } = observe(module);
    const wait = context.suspending((value: number) => (value === 0 ? 1 : Promise.resolve(value)));
    const { exports } = context.instantiateSync({ env: { wait } });
    const twice = context.promising(exports.twice as (value: number) => number);
    assert.deepEqual(await Promise.all([twice(0), twice(5), twice(0)]), [2, 10, 2]);
    assert.deepEqual(batches.map(tree), Array(3).fill(['twice', '  inner', '  inner']));
  });

  it('end what a trap, or a promise that was rejected, left open', async () => {
    const { promising, gates, batches, plain } = suspendable();
    const results = Promise.allSettled([promising('fails')(1), promising('twice')(2)]);
    gates[1]?.reject(new Error('refused'));
    gates[0]?.resolve(1);
    plain();
    await results;
    plain();
    assert.deepEqual(batches.map(tree).sort(), [
      ['fails ! RuntimeError: unreachable', '  inner'],
      ['plain'],
      ['plain'],
      ['twice ! Error: refused', '  inner ! Error: refused'],
    ]);
  });

  it('reject as the engine does', async () => {
    const { promising, gates } = suspendable();
    const result = promising('fails')(1);
    gates[0]?.resolve(1);
    await assert.rejects(result, { name: 'RuntimeError', message: 'unreachable' });
  });

  it('hang a call that is made within another under it, which is emitted however short', async () => {
    const { context, batches } = observe(module, { spanFilter: { minDurationMicroseconds: 1e6 } });
    const inner: Promise<unknown>[] = [];
    const wait = context.suspending((value: number) => {
      if (value === 1) inner.push(twice(2));
      return Promise.resolve(value);
    });
    const { exports } = context.instantiateSync({ env: { wait } });
    const twice = context.promising(exports.twice as (value: number) => number);
    await twice(1);
    await Promise.all(inner);
    const own = batches.find((batch) => batch.length > 1) ?? [];
    const nested = batches.filter((batch) => batch !== own);
    assert.deepEqual(tree(own), ['twice', '  inner', '  inner']);
    assert.deepEqual(nested.map(tree), [['twice'], ['twice']]);
    assert.deepEqual(
      nested.map(([root]) => [root?.traceId, root?.parentSpanId]),
      own.slice(1).map(({ traceId, spanId }) => [traceId, spanId]),
    );
  });

  it('lie in the span that withParent() names', async () => {
    const { context, promising, gates, batches } = suspendable();
    const parent = '00-11111111111111111111111111111111-2222222222222222-01';
    const result = context.withParent(parent, () => promising('twice')(1));
    gates[0]?.resolve(0);
    await settle();
    gates[1]?.resolve(0);
    await result;
    assert.equal(batches[0]?.[0]?.parentSpanId, '2222222222222222');
  });

  it('let the host call back into the module while a call waits, and while it runs', async () => {
    const { context, batches } = observe(module);
    const wait = context.suspending(async (value: number) => {
      plain();
      await null;
      plain();
      return value;
    });
    const { exports } = context.instantiateSync({ env: { wait } });
    const plain = exports.plain as () => void;
    await context.promising(exports.twice as (value: number) => number)(1);
    assert.deepEqual(batches.map(tree), [
      ['plain'],
      ['plain'],
      ['twice', '  inner', '    plain', '  inner', '    plain'],
    ]);
  });

  it('hold for hundreds of calls that wait in any order', async () => {
    const { promising, gates, batches } = suspendable();
    const twice = promising('twice');
    const results = Array.from({ length: 300 }, () => twice(1));
    for (let left = 600, place = 0; left > 0; left--) {
      place = (place * 7 + 3) % gates.length;
      gates.splice(place, 1)[0]?.resolve(1);
      if (gates.length === 0 || left % 5 === 0) await settle();
    }
    assert.deepEqual(await Promise.all(results), Array(300).fill(2));
    assert.deepEqual(batches.map(tree), Array(300).fill(['twice', '  inner', '  inner']));
  });

  it('take functions of bound instances alone', () => {
    const { context } = observe(module);
    assert.throws(() => context.promising(() => {}), { code: 'not_an_export' });
  });

  it('refuse imports that hide when a call waits', () => {
    const { context } = observe(module);
    const Suspending = (WebAssembly as unknown as { Suspending: new (imported: () => unknown) => object }).Suspending;
    assert.throws(() => context.instantiateSync({ env: { wait: new Suspending(() => 1) } }), {
      code: 'foreign_suspending',
      message: /env\.wait/,
    });
  });

  it('say that the engine cannot, where it cannot', (test) => {
    const engine = WebAssembly as unknown as Record<string, unknown>;
    const { context } = observe(module);
    for (const name of ['promising', 'Suspending']) {
      const original = engine[name];
      Object.defineProperty(engine, name, { value: undefined, configurable: true });
      test.after(() => Object.defineProperty(engine, name, { value: original, configurable: true, writable: true }));
    }
    assert.throws(() => context.suspending(() => 1), { code: 'no_promise_integration' });
  });
});
