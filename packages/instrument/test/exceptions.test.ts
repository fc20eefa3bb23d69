import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { runTraced } from './support/run.ts';

const thrower = `
  (import "env" "host" (func $host (param i32)))
  (tag $e (param i32))
  (func $throw (param i32) (throw $e (local.get 0)))
  (func $pass (param i32) (call $throw (local.get 0)) (call $host (i32.const -1)))
  (func $leaf (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))`;

const legacy = wat(`(module ${thrower}
  (func $catch (export "catch") (param i32) (result i32)
    (try (result i32) (do (call $pass (local.get 0)) (i32.const -1)) (catch $e (call $leaf))))
  (func $rethrow (export "rethrow") (param i32) (result i32)
    (try (result i32)
      (do (try (result i32) (do (call $pass (local.get 0)) (i32.const -1)) (catch $e (drop) (rethrow 0))))
      (catch $e (call $leaf))))
  (func $delegated (param i32) (result i32)
    (try (result i32) (do (call $pass (local.get 0)) (i32.const -1)) (delegate 0)))
  (func $delegate (export "delegate") (param i32) (result i32)
    (try (result i32) (do (call $delegated (local.get 0))) (catch_all (i32.const 77))))
  (func $viaReturn (export "return") (param i32) (result i32)
    (try (do (call $pass (local.get 0))) (catch $e (return))) (i32.const 0))
  (func $callHost (export "host") (param i32) (result i32)
    (try (result i32) (do (call $host (local.get 0)) (i32.const 1)) (catch_all (i32.const 2))))
  (func (export "escape") (param i32) (result i32) (call $pass (local.get 0)) (i32.const 0)))`);

const exnref = wat(`(module ${thrower}
  (func $catch (export "catch") (param i32) (result i32)
    (block $h (result i32)
      (try_table (catch $e $h) (call $pass (local.get 0)))
      (return (i32.const -1)))
    (call $leaf))
  (func $rethrow (export "rethrow") (param i32) (result i32)
    (block $outer (result i32)
      (try_table (catch $e $outer)
        (block $inner (result exnref)
          (try_table (catch_all_ref $inner) (call $pass (local.get 0)))
          (unreachable))
        (throw_ref))
      (unreachable))
    (call $leaf))
  (func $toFunction (export "return") (param i32) (result i32)
    (try_table (catch $e 0) (call $pass (local.get 0)))
    (i32.const 0))
  (func $delegated (param i32) (result i32) (call $pass (local.get 0)) (i32.const -1))
  (func $delegate (export "delegate") (param i32) (result i32)
    (block $h (try_table (catch_all $h) (drop (call $delegated (local.get 0)))) (return (i32.const -1)))
    (i32.const 77))
  (func $callHost (export "host") (param i32) (result i32)
    (block $h (try_table (catch_all $h) (call $host (local.get 0))) (return (i32.const 1)))
    (i32.const 2))
  (func (export "escape") (param i32) (result i32) (call $pass (local.get 0)) (i32.const 0)))`);

for (const [generation, input] of Object.entries({ legacy, exnref })) {
  describe(`instrument() on exceptions of the ${generation} generation`, () => {
    const host = (fail: number) => {
      if (fail === 1) throw new Error('from the host');
    };
    const run = () => runTraced(input, { env: { host } });

    for (const [name, expected] of Object.entries({ catch: 6, rethrow: 6, delegate: 77, return: 5 })) {
      it(`${name}: every frame that an exception passes is left once`, () => {
        const { exports, trace, takeEvents } = run();
        assert.equal(exports[name]?.(5), expected);
        trace.assertBalanced();
        assert.ok(takeEvents().includes('exit throw'));
      });
    }

    it('leaves the frames of an exception that no one catches', () => {
      const { exports, trace, takeEvents } = run();
      assert.throws(() => exports.escape?.(5), WebAssembly.Exception);
      trace.assertBalanced();
      assert.deepEqual(takeEvents(), [
        ...['enter escape', 'enter pass', 'enter throw'],
        ...['exit throw', 'exit pass', 'exit escape'],
      ]);
    });

    it('leaves an import that throws, and lets the module catch it', () => {
      const { exports, trace } = run();
      assert.equal(exports.host?.(1), 2);
      assert.equal(exports.host?.(0), 1);
      trace.assertBalanced();
    });

    it('puts no handler around a function that cannot throw', () => {
      const { bytes } = run();
      const { bytes: without } = runTraced(input, { env: { host } }, { banned: ['leaf'] });
      // enter and exit alone: two constants and two calls.
      assert.ok(bytes.length - without.length <= 10, `${bytes.length - without.length} bytes`);
    });
  });
}

describe('instrument() on a module that has tags but no handler', () => {
  const input = wat(`(module (tag $e) (func $f (export "f") (call $g)) (func $g (throw $e)))`);

  it('chooses exnref, and notes it', () => {
    const { exports, trace, report } = runTraced(input);
    assert.throws(() => exports.f?.(), WebAssembly.Exception);
    trace.assertBalanced();
    assert.equal(report.notes.length, 1);
    const [note] = report.notes;
    assert.ok(note?.code === 'exception_handling_chosen' && note.exceptionHandling === 'exnref');
  });

  it('takes the generation that the caller chooses', () => {
    const { exports, trace, bytes, report } = runTraced(input, {}, { exceptionHandling: 'legacy' });
    assert.throws(() => exports.f?.(), WebAssembly.Exception);
    trace.assertBalanced();
    assert.ok(bytes.includes(0x19), 'catch_all occurs');
    const [note] = report.notes;
    assert.ok(note?.code === 'exception_handling_chosen' && note.exceptionHandling === 'legacy');
  });

  it('follows the code and not the choice where the code has handlers', () => {
    const { exports, trace, report } = runTraced(legacy, { env: { host: () => {} } }, { exceptionHandling: 'exnref' });
    assert.equal(exports.catch?.(5), 6);
    trace.assertBalanced();
    assert.deepEqual(report.notes, []);
  });
});
