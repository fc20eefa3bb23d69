import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gcWat, wat } from '../../../test/helpers/wat.ts';
import { runTraced } from './support/run.ts';

describe('instrument() on every way out of a function', () => {
  const forms: Record<string, string> = {
    'falls off the end': '(local.get 0)',
    'return in the middle': '(if (local.get 0) (then (return (i32.const 7)))) (i32.const 9)',
    'return at the end': '(return (local.get 0))',
    'return with more on the stack': '(i32.const 1) (i32.const 2) (return (i32.const 3))',
    'br to the function': '(br 0 (i32.const 4))',
    'br out of nested blocks': '(block (loop (block (br 3 (i32.const 5))))) (i32.const 6)',
    'br_if to the function': '(br_if 0 (i32.const 5) (local.get 0)) (drop) (i32.const 8)',
    'br_table with the function among the labels':
      '(block (result i32) (block (result i32) (br_table 0 1 2 (i32.const 5) (local.get 0))) (i32.const 20) (i32.add)) (i32.const 1) (i32.add)',
    'br_table with the function as the default':
      '(block (result i32) (br_table 0 1 (i32.const 5) (local.get 0))) (i32.const 1) (i32.add)',
    'return out of a loop and an if':
      '(loop (if (local.get 0) (then (return (i32.const 11))) (else (return (i32.const 12))))) (unreachable)',
    'dead code after a return': '(return (i32.const 1)) (drop (i32.add)) (br 0) (return)',
  };
  for (const [form, body] of Object.entries(forms)) {
    it(`${form}: one enter, one exit, the same result`, () => {
      const input = wat(`(module (func $f (export "f") (param i32) (result i32) ${body}))`);
      const plain = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(input)));
      const traced = runTraced(input);
      for (const argument of [0, 1, 2, 3]) {
        const expected = (plain.exports.f as (x: number) => number)(argument);
        assert.equal(traced.exports.f?.(argument), expected);
        assert.deepEqual(traced.takeEvents(), ['enter f', 'exit f']);
      }
    });
  }

  it('keeps several results in their order, with and without a type for them', () => {
    const body = '(if (local.get 0) (then (return (i32.const 1) (i64.const 2) (f64.const 3))))';
    const rest = '(i32.const 4) (i64.const 5) (f64.const 6)';
    for (const extra of ['', '(type (func (result i32 i64 f64)))']) {
      const input = wat(`(module ${extra} (func $f (export "f") (param i32) (result i32 i64 f64) ${body} ${rest}))`);
      const { exports, takeEvents } = runTraced(input);
      assert.deepEqual(exports.f?.(1), [1, 2n, 3]);
      assert.deepEqual(exports.f?.(0), [4, 5n, 6]);
      assert.deepEqual(takeEvents(), ['enter f', 'exit f', 'enter f', 'exit f']);
    }
  });

  it('traces the start function', () => {
    const { takeEvents } = runTraced(wat('(module (func $boot) (start $boot))'));
    assert.deepEqual(takeEvents(), ['enter boot', 'exit boot']);
  });

  it('traces an imported start function through its wrapper', () => {
    let calls = 0;
    const input = wat('(module (import "env" "boot" (func)) (start 0))');
    const { takeEvents } = runTraced(input, { env: { boot: () => calls++ } });
    assert.equal(calls, 1);
    assert.deepEqual(takeEvents(), ['enter env.boot', 'exit env.boot']);
  });

  it('exits before a tail call, and keeps its depth over a million calls', () => {
    const input = wat(`(module
      (table funcref (elem $indirect))
      (type $step (func (param i32) (result i32)))
      (func $direct (export "f") (param i32) (result i32)
        (if (i32.eqz (local.get 0)) (then (return (i32.const 42))))
        (return_call_indirect (type $step) (i32.sub (local.get 0) (i32.const 1)) (i32.const 0)))
      (func $indirect (param i32) (result i32)
        (return_call $direct (local.get 0))))`);
    const { exports, takeEvents, trace } = runTraced(input);
    assert.equal(exports.f?.(1), 42);
    const names = ['direct', 'indirect', 'direct'];
    assert.deepEqual(
      takeEvents(),
      names.flatMap((name) => [`enter ${name}`, `exit ${name}`]),
    );
    assert.equal(exports.f?.(1_000_000), 42);
    trace.assertBalanced();
  });

  it('reports a tail call of an import, and keeps its depth', () => {
    const input = wat(`(module
      (import "other" "step" (func $step (param i32) (result i32)))
      (func $loop (export "loop") (param i32) (result i32)
        (if (i32.eqz (local.get 0)) (then (return (i32.const 42))))
        (return_call $step (i32.sub (local.get 0) (i32.const 1)))))`);
    const other = wat(`(module
      (table (export "table") 1 funcref)
      (type $step (func (param i32) (result i32)))
      (func (export "step") (param i32) (result i32)
        (return_call_indirect (type $step) (local.get 0) (i32.const 0))))`);
    const { table, step } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(other))).exports;
    const { all, exports, takeEvents, trace } = runTraced(input, { other: { step: step as () => number } });
    (table as WebAssembly.Table).set(0, all.loop);
    assert.equal(exports.loop?.(1), 42);
    const once = ['enter loop', 'exit loop'];
    assert.deepEqual(takeEvents(), [...once, 'enter step', 'exit step', ...once]);
    assert.equal(exports.loop?.(500_000), 42);
    trace.assertBalanced();
  });

  it('leaves a call open after a trap, and nothing else', () => {
    const { exports, takeEvents, trace } = runTraced(
      wat('(module (func $f (export "f") (call $g)) (func $g (unreachable)))'),
    );
    assert.throws(() => exports.f?.(), WebAssembly.RuntimeError);
    assert.deepEqual(takeEvents(), ['enter f', 'enter g']);
    assert.equal(trace.open.length, 2);
  });
});

describe('instrument() on branches of references', () => {
  it('follows br_on_null, br_on_non_null and br_on_cast to the function', async () => {
    const input = await gcWat(`(module
      (type $s (struct (field i32)))
      (func $make (export "make") (param i32) (result anyref)
        (if (result anyref) (local.get 0) (then (struct.new $s (local.get 0))) (else (ref.i31 (i32.const 5)))))
      (func $cast (export "cast") (param anyref) (result i32)
        (block $no (result anyref)
          (return (struct.get $s 0 (br_on_cast_fail $no anyref (ref $s) (local.get 0)))))
        (drop) (i32.const -1))
      (func $null (export "null") (param anyref) (result i32)
        (block $isNull (return (i31.get_s (ref.cast (ref i31) (br_on_null $isNull (local.get 0))))))
        (i32.const -2)))`);
    const { exports, trace } = runTraced(input);
    assert.equal(exports.cast?.(exports.make?.(9)), 9);
    assert.equal(exports.cast?.(exports.make?.(0)), -1);
    assert.equal(exports.null?.(exports.make?.(0)), 5);
    assert.equal(exports.null?.(null), -2);
    trace.assertBalanced();
    assert.equal(
      [...trace.calls.values()].reduce((sum, count) => sum + count, 0),
      7,
    );
  });

  it('lets call_ref reach a traced import and a traced function', async () => {
    const input = await gcWat(`(module
      (type $f (func (param i32) (result i32)))
      (import "env" "twice" (func $twice (type $f)))
      (export "again" (func $twice))
      (func $inc (type $f) (i32.add (local.get 0) (i32.const 1)))
      (elem declare func $inc)
      (func $both (export "both") (param i32) (result i32)
        (call_ref $f (call_ref $f (local.get 0) (ref.func $twice)) (ref.func $inc))))`);
    const { exports, takeEvents } = runTraced(input, { env: { twice: (x: number) => 2 * x } });
    assert.equal(exports.both?.(10), 21);
    const kinds = takeEvents().map((event) => event.split(' ')[0]);
    assert.deepEqual(kinds, ['enter', 'enter', 'exit', 'enter', 'exit', 'exit']);
  });
});
