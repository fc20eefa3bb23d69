import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { type InstrumentOptions, instrument } from '../src/index.ts';
import { runTraced } from './support/run.ts';

const twoFunctions = wat(`(module
  (func $inner (param i32) (result i32) (local.get 0))
  (func $outer (export "outer") (param i32) (result i32) (call $inner (local.get 0))))`);

const tenonExports = (exports: WebAssembly.Exports) => Object.keys(exports).filter((name) => name.startsWith('tenon:'));

describe('instrument() with adaptive', () => {
  it('exports a counter for each traced function, behind the module’s own exports', () => {
    const { all, report } = runTraced(twoFunctions, {}, { adaptive: true });
    assert.deepEqual(Object.keys(all), [
      ...['outer', 'tenon:clock', 'tenon:clock-step', 'tenon:min-duration', 'tenon:skipped-call-start'],
      ...['tenon:skip:2', 'tenon:skip:3'],
    ]);
    assert.deepEqual(report.addedImports, ['enter', 'exit']);
  });

  it('skips as many calls as the host says, and then traces again', () => {
    const { exports, all, takeEvents } = runTraced(twoFunctions, {}, { adaptive: true });
    (all['tenon:skip:2'] as WebAssembly.Global).value = 2;
    const events = [1, 2, 3].map((argument) => {
      assert.equal(exports.outer?.(argument), argument);
      return takeEvents();
    });
    const outer = ['enter outer', 'exit outer'];
    assert.deepEqual(events, [outer, outer, ['enter outer', 'enter inner', 'exit inner', 'exit outer']]);
  });

  it('gives a module exports that has none', () => {
    const { all } = runTraced(wat('(module (func $boot) (start $boot))'), {}, { adaptive: true });
    assert.equal(tenonExports(all).length, 5);
  });

  it('adds no counter where nothing is traced', () => {
    const { all } = runTraced(twoFunctions, {}, { adaptive: true, allowed: [] });
    assert.deepEqual(tenonExports(all), []);
  });

  it('always traces a function that has as many locals as engines accept', () => {
    const many = wat(`(module (func $f (export "f") (local ${'i32 '.repeat(50_000)})))`);
    const { exports, all, takeEvents } = runTraced(many, {}, { adaptive: true });
    assert.equal(tenonExports(all).length, 4);
    exports.f?.();
    assert.deepEqual(takeEvents(), ['enter f', 'exit f']);
  });

  it('refuses a module with an export of the same name', () => {
    const module = wat('(module (func $f (export "tenon:clock")))');
    assert.throws(() => instrument(module, { adaptive: true }), { code: 'already_instrumented' });
    assert.ok(instrument(module).bytes.length > 0);
  });
});

describe('instrument() with skipLeaves', () => {
  const traced = (body: string, options: InstrumentOptions = {}) => {
    const module = wat(`(module (memory 1) (type $t (func)) (table funcref (elem $f))
      (func $f ${body}) (func $caller (export "caller") (call $f)))`);
    const result = instrument(module, { skipLeaves: true, ...options });
    assert.ok(WebAssembly.validate(new Uint8Array(result.bytes)));
    return result.report.tracedFunctions;
  };

  it('leaves out functions whose calls are always short', () => {
    for (const body of [
      '',
      '(nop) (if (i32.const 1) (then (return)))',
      '(drop (i32.load offset=3 (i32.const 3)))',
      '(return_call $caller)',
    ]) {
      assert.equal(traced(body), 1, body);
      assert.equal(traced(body, { adaptive: true, coverage: true, fuel: 1_000 }), 1, body);
    }
  });

  it('traces functions that can take long', () => {
    const bodies = ['(loop (nop))', '(call $caller)', '(call_indirect (type $t) (i32.const 0))'];
    const bulk = ['(memory.fill (i32.const 0) (i32.const 0) (i32.const 9))', '(drop (memory.grow (i32.const 1)))'];
    for (const body of [...bodies, ...bulk, '(nop)'.repeat(3_000)]) assert.equal(traced(body), 2, body);
  });

  it('traces functions that the host calls', () => {
    assert.equal(instrument(wat('(module (func (export "f")))'), { skipLeaves: true }).report.tracedFunctions, 1);
  });
});

describe('instrument() with every', () => {
  it('traces one call in n of each function, beginning with the first', () => {
    const { exports, all, takeEvents } = runTraced(twoFunctions, {}, { every: 3 });
    assert.deepEqual(tenonExports(all), []);
    for (let call = 0; call < 7; call++) assert.equal(exports.outer?.(call), call);
    const traced = ['enter outer', 'enter inner', 'exit inner', 'exit outer'];
    assert.deepEqual(takeEvents(), [...traced, ...traced, ...traced]);
  });

  it('takes whole numbers from 1', () => {
    for (const every of [0, -1, 1.5, Number.NaN, 2 ** 31, '2']) {
      assert.throws(() => instrument(twoFunctions, { every: every as number }), { code: 'invalid_config' });
    }
    assert.deepEqual(instrument(twoFunctions, { every: 1 }).bytes, instrument(twoFunctions).bytes);
  });
});
