import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WASI } from 'node:wasi';
import { wat } from '../../../test/helpers/wat.ts';
import { hookImports, moduleOf, observe, tree } from '../test/support/observed.ts';

const module = moduleOf(`(module ${hookImports}
  (import "env" "host" (func $host (param i32)))
  (import "env" "tag" (tag $tag))
  (memory (export "memory") 1)
  (table (export "table") 1 funcref)
  (global (export "global") (mut i32) (i32.const 3))
  (func $add (export "add") (export "again") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func $host_call (export "host") (param i32)
    (call $enter (i32.const 5)) (call $host (local.get 0)) (call $exit (i32.const 5)))
  (func $trap (export "trap") (call $enter (i32.const 6)) unreachable)
  (func $deep (export "deep") (call $enter (i32.const 7)) (call $deep))
  (func $throw (export "throw") (call $enter (i32.const 8)) (throw $tag)))`);

type Exports = {
  add(a: number, b: number): number;
  again: unknown;
  host(value: number): void;
  trap(): void;
  deep(): void;
  throw(): void;
  memory: WebAssembly.Memory;
  table: WebAssembly.Table;
  global: WebAssembly.Global;
};

function bound(host: (value: number, exports: Exports) => void = () => {}, options = {}) {
  const observed = observe(module, options);
  const tag = new WebAssembly.Tag({ parameters: [] });
  const env = { host: (value: number) => host(value, exports), tag };
  const original = new WebAssembly.Instance(module, { ...observed.context.imports, env });
  const instance = observed.context.bind(original);
  const exports = instance.exports as unknown as Exports;
  return { ...observed, original, instance, exports };
}

describe('bind()', () => {
  it('gives what an instance has, with functions that do the same', () => {
    const { instance, original, exports } = bound();
    assert.ok(instance instanceof WebAssembly.Instance);
    assert.deepEqual(Object.keys(exports), Object.keys(original.exports));
    assert.ok(Object.isFrozen(exports));
    for (const name of ['memory', 'table', 'global'] as const) assert.equal(exports[name], original.exports[name]);
    assert.equal(exports.add(2, 3), 5);
    assert.equal(exports.add, exports.again);
    assert.equal(exports.add.length, 2);
    assert.equal(exports.add.name, (original.exports.add as () => void).name);
  });

  it('gives the same for the same instance, bound or not', () => {
    const { context, original, instance } = bound();
    assert.equal(context.bind(original), instance);
    assert.equal(context.bind(instance), instance);
  });

  it('ends what a trap left, as failed, and begins the next call clean', () => {
    const { exports, batches, context } = bound();
    assert.throws(() => exports.trap(), { message: 'unreachable' });
    exports.host(0);
    assert.deepEqual(batches.map(tree), [['trap ! RuntimeError: unreachable'], ['host_call']]);
    assert.equal(context.statistics().dropped.unmatched, 0);
  });

  it('ends what the host threw through, as failed', () => {
    const { exports, batches } = bound((value) => {
      if (value === 1) throw new TypeError('not today');
      if (value === 2) throw 'a text';
      if (value === 3) throw { toString: () => assert.fail() };
      throw Symbol('gone');
    });
    for (const value of [1, 2, 3, 4]) assert.throws(() => exports.host(value));
    assert.deepEqual(batches.map(tree), [
      ['host_call ! TypeError: not today'],
      ['host_call ! a text'],
      ['host_call ! something that has no text'],
      ['host_call ! Symbol(gone)'],
    ]);
  });

  it('names exceptions of the module itself', () => {
    const { exports, batches } = bound();
    assert.throws(() => exports.throw(), WebAssembly.Exception);
    assert.match(tree(batches[0])[0] ?? '', /^throw ! WebAssembly\.Exception/);
  });

  it('ends thousands of calls when the stack is full', () => {
    const { exports, batches } = bound();
    assert.throws(() => exports.deep(), RangeError);
    assert.ok((batches[0]?.length ?? 0) > 1_000);
    assert.ok(batches[0]?.every(({ status }) => status.code === 'error'));
    exports.host(0);
    assert.equal(batches[1]?.length, 1);
  });

  it('ends what the inner call left where the host catches what it threw', () => {
    const { exports, batches, clock } = bound((value, { trap, host }) => {
      clock.moveNs(10);
      if (value === 0) return;
      assert.throws(trap);
      host(value - 1);
    });
    exports.host(2);
    const failed = 'trap ! RuntimeError: unreachable';
    assert.deepEqual(tree(batches[0]), ['host_call', `  ${failed}`, '  host_call', `    ${failed}`, '    host_call']);
    assert.deepEqual(
      batches[0]?.map(({ selfTimeNano }) => selfTimeNano),
      [10n, 0n, 10n, 0n, 10n],
    );
  });

  it('counts folded inner calls in the span around them', () => {
    const { exports, batches, clock } = bound(
      (value, { host }) => {
        clock.moveNs(100);
        if (value > 0) host(value - 1);
      },
      { spanFilter: { minDurationMicroseconds: 20 } },
    );
    exports.host(3);
    assert.deepEqual(
      batches[0]?.map(({ folded }) => folded),
      [{ calls: 3, timeNano: 300n }],
    );
  });

  it('takes no exit of an inner call for the end of an outer one', () => {
    const { context, exports, batches } = bound((value, { add }) => {
      const { exit } = context.imports['dylibso:observe/instrument'] as { exit: (index: number) => void };
      if (value === 1) context.run(() => exit(5));
      add(1, 2);
    });
    exports.host(1);
    assert.deepEqual(tree(batches[0]), ['host_call']);
    assert.equal(context.statistics().dropped.unmatched, 1);
  });

  it('believes the host that a throw is no failure', () => {
    const { exports, batches, context } = bound(
      () => {
        throw new Error('exit 0');
      },
      { failureReason: (thrown: Error) => (thrown.message === 'exit 0' ? undefined : 'a failure') },
    );
    assert.throws(() => exports.host(0));
    assert.throws(() => exports.trap());
    assert.deepEqual(batches.map(tree), [['host_call'], ['trap ! a failure']]);
    assert.equal(context.statistics().dropped.unmatched, 0);
  });

  it('falls back on the message where the host cannot tell a reason', () => {
    const { exports, batches } = bound(undefined, {
      failureReason() {
        throw new Error();
      },
    });
    assert.throws(() => exports.trap());
    assert.deepEqual(batches.map(tree), [['trap ! RuntimeError: unreachable']]);
  });

  it('keeps the beginning of a reason that is very long', () => {
    const { exports, batches } = bound(() => {
      throw new Error('x'.repeat(1e6));
    });
    assert.throws(() => exports.host(0));
    assert.equal(batches[0]?.[0]?.status.message.length, 1_024);
  });

  it('suits WASI', () => {
    const command = moduleOf(`(module ${hookImports}
      (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
      (memory (export "memory") 1)
      (func $main (export "_start") (call $enter (i32.const 4)) (call $proc_exit (i32.const 7))))`);
    const { context, batches } = observe(command, {
      failureReason: (thrown) => (typeof thrown === 'symbol' ? undefined : 'failed'),
    });
    const wasi = new WASI({ version: 'preview1' });
    const instance = context.instantiateSync(wasi.getImportObject() as WebAssembly.Imports);
    assert.equal(wasi.start(instance), 7);
    assert.deepEqual(batches.map(tree), [['main']]);
  });
});

describe('run()', () => {
  it('ends what calls leave that the host makes by a table', () => {
    const tabled = moduleOf(`(module ${hookImports}
      (table (export "table") 1 funcref) (elem (i32.const 0) $trap)
      (func $trap (call $enter (i32.const 3)) unreachable))`);
    const { context, batches } = observe(tabled);
    const { table } = context.instantiateSync().exports;
    const trap = (table as WebAssembly.Table).get(0);
    assert.throws(() => context.run(() => trap()), WebAssembly.RuntimeError);
    assert.deepEqual(batches.map(tree), [['trap ! RuntimeError: unreachable']]);
  });

  it('answers what the action answers', () => {
    assert.equal(
      observe(wat('(module)')).context.run(() => 5),
      5,
    );
  });
});
