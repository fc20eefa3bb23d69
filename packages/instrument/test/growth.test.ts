import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { instrument } from '../src/index.ts';
import { runTraced } from './support/run.ts';

describe('instrument() on memory.grow', () => {
  it('reports the pages of a growth that succeeded, and neither a failure nor a growth by nothing', () => {
    const { exports, takeEvents } = runTraced(
      wat('(module (memory 1 5) (func $f (export "f") (param i32) (result i32) (memory.grow (local.get 0))))'),
    );
    assert.equal(exports.f?.(3), 1);
    assert.deepEqual(takeEvents(), ['enter f', 'grow 3', 'exit f']);
    assert.equal(exports.f?.(0), 4);
    assert.equal(exports.f?.(9), -1);
    assert.equal(exports.f?.(-1), -1);
    assert.deepEqual(takeEvents(), ['enter f', 'exit f', 'enter f', 'exit f', 'enter f', 'exit f']);
  });

  it('knows 64-bit and several memories', () => {
    const { exports, trace } = runTraced(
      wat(`(module (memory 1) (memory i64 2 10)
        (func (export "a") (param i32) (result i32) (memory.grow 0 (local.get 0)))
        (func (export "b") (param i64) (result i64) (memory.grow 1 (local.get 0))))`),
    );
    assert.equal(exports.b?.(7n), 2n);
    assert.equal(exports.b?.(7n), -1n);
    assert.equal(exports.a?.(2), 1);
    assert.deepEqual(trace.growths, [7, 2]);
  });

  it('reports growth in functions that are not traced', () => {
    const input = wat('(module (memory 1) (func $f (export "f") (drop (memory.grow (i32.const 2)))))');
    const { exports, takeEvents, report } = runTraced(input, {}, { banned: ['f'] });
    exports.f?.();
    assert.deepEqual(takeEvents(), ['grow 2']);
    assert.deepEqual(report.addedImports, ['memory-grow']);
    assert.equal(report.tracedFunctions, 0);
  });

  it('imports memory-grow only where a growth can be reported', () => {
    const hidden = wat('(module (memory 1) (func $f (export "f")))');
    assert.deepEqual(instrument(hidden).report.addedImports, ['enter', 'exit']);
    const fixed = wat('(module (memory (export "m") 1 1) (func (drop (memory.grow (i32.const 0)))))');
    assert.deepEqual(instrument(fixed).report.addedImports, ['enter', 'exit']);
    const shared = wat('(module (import "env" "f" (func)) (memory (export "m") 1 2 shared) (func (call 0)))');
    assert.deepEqual(instrument(shared).report.addedImports, ['enter', 'exit']);
  });
});

describe('instrument() on growth by the host', () => {
  const exported = wat(`(module
    (import "env" "outer" (func $outer)) (import "env" "inner" (func $inner))
    (memory (export "memory") 1 20)
    (func $back (export "back") (call $inner))
    (func $own (export "own") (drop (memory.grow (i32.const 2))))
    (func $run (export "run") (call $outer)))`);

  it('reports it once, at the end of the import during which it happened', () => {
    const env = { outer: () => (instance.all.memory as WebAssembly.Memory).grow(3), inner() {} };
    const instance = runTraced(exported, { env });
    instance.exports.run?.();
    assert.deepEqual(instance.takeEvents(), ['enter run', 'enter outer', 'grow 3', 'exit outer', 'exit run']);
  });

  it('reports it once although the host calls back into the module, which calls another import', () => {
    const memory = () => instance.all.memory as WebAssembly.Memory;
    const env = {
      outer() {
        memory().grow(1);
        instance.exports.back?.();
        memory().grow(4);
        instance.exports.own?.();
      },
      inner: () => memory().grow(2),
    };
    const instance = runTraced(exported, { env });
    instance.exports.run?.();
    const { growths } = instance.trace;
    assert.equal(
      growths.reduce((sum, pages) => sum + pages, 0),
      memory().buffer.byteLength / 65536 - 1,
    );
    assert.deepEqual(growths, [3, 4, 2]);
    instance.trace.assertBalanced();
  });

  it('knows memories of 64-bit addresses, and more than one', () => {
    const input = wat(`(module (import "env" "grow" (func $grow))
      (memory (export "wide") i64 1 20) (memory (export "second") 2 20) (memory 1)
      (func (export "run") (call $grow)))`);
    const grow = () => {
      // The declarations know no memory of 64-bit addresses.
      (all.wide as unknown as { grow: (pages: bigint) => bigint }).grow(3n);
      (all.second as WebAssembly.Memory).grow(5);
    };
    const { all, exports, trace } = runTraced(input, { env: { grow } });
    exports.run?.();
    assert.deepEqual(trace.growths, [3, 5]);
  });

  it('is reported before the exit of an import that throws', () => {
    const input = wat(`(module (import "env" "fail" (func $fail)) (tag) (memory (export "memory") 1)
      (func (export "run") (try (do (call $fail)) (catch_all))))`);
    const fail = () => {
      (all.memory as WebAssembly.Memory).grow(3);
      throw new Error('from the host');
    };
    const { all, exports, takeEvents, trace } = runTraced(input, { env: { fail } });
    exports.run?.();
    assert.deepEqual(takeEvents(), ['enter run', 'enter fail', 'grow 3', 'exit fail', 'exit run']);
    trace.assertBalanced();
  });

  it('takes the size of an imported memory as it finds it', () => {
    const memory = new WebAssembly.Memory({ initial: 5, maximum: 20 });
    const input = wat(`(module (import "env" "memory" (memory 1)) (import "env" "grow" (func $grow))
      (func (export "run") (call $grow)))`);
    const { exports, trace } = runTraced(input, { env: { memory, grow: () => memory.grow(2) } });
    exports.run?.();
    exports.run?.();
    assert.deepEqual(trace.growths, [2, 2]);
  });

  it('is reported for imports that are not traced, and never for builtins or the manual API', () => {
    const env = { outer: () => (instance.all.memory as WebAssembly.Memory).grow(3), inner() {} };
    const instance = runTraced(exported, { env }, { allowed: [] });
    instance.exports.run?.();
    assert.deepEqual(instance.takeEvents(), ['grow 3']);
    const manual = wat(
      '(module (import "dylibso:observe/api" "span-exit" (func)) (memory (export "m") 1) (func (call 0)))',
    );
    assert.deepEqual(instrument(manual, { allowed: [] }).bytes, manual);
  });

  it('is reported with the next import where a tail call of an import left no one to look', () => {
    const input = wat(`(module
      (import "env" "grow" (func $grow)) (import "env" "idle" (func $idle)) (memory (export "memory") 1 20)
      (func $run (export "run") (return_call $grow)) (func $later (export "later") (call $idle)))`);
    const env = { grow: () => (instance.all.memory as WebAssembly.Memory).grow(3), idle() {} };
    const instance = runTraced(input, { env });
    instance.exports.run?.();
    assert.deepEqual(instance.takeEvents(), ['enter run', 'exit run', 'enter grow', 'exit grow']);
    instance.exports.later?.();
    assert.deepEqual(instance.takeEvents(), ['enter later', 'enter idle', 'grow 3', 'exit idle', 'exit later']);
  });
});
