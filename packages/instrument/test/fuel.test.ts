import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { type InstrumentOptions, instrument } from '../src/index.ts';

interface Fueled {
  readonly call: (name: string, ...args: readonly unknown[]) => string;
  readonly fuel: WebAssembly.Global;
}

function fueled(text: string, options: InstrumentOptions, outOfFuel = (_: Fueled) => {}): Fueled {
  const { bytes } = instrument(wat(text), { trace: false, ...options });
  const imports = { 'tenon:instrument': { 'out-of-fuel': () => outOfFuel(instance) }, env: { host() {} } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
  const instance: Fueled = {
    fuel: exports['tenon:fuel'] as WebAssembly.Global,
    call(name, ...args) {
      try {
        return String((exports[name] as (...args: readonly unknown[]) => unknown)(...args));
      } catch (error) {
        return (error as Error).message;
      }
    },
  };
  return instance;
}

describe('instrument() with fuel', () => {
  it('takes 1 for each instruction, except for those that only delimit blocks', () => {
    const text = '(module (func (export "f") (block (loop (nop) (nop)) (drop (i32.const 1)))) (func (export "g")))';
    const { call, fuel } = fueled(text, { fuel: 100 });
    call('f');
    assert.equal(fuel.value, 96n);
    call('g');
    assert.equal(fuel.value, 96n);
  });

  it('starts with the number, and continues with what the host sets', () => {
    const text = '(module (func $leaf) (func (export "f") (call $leaf)))';
    const { call, fuel } = fueled(text, { fuel: Number.MAX_SAFE_INTEGER });
    assert.equal(fuel.value, 9007199254740991n);
    fuel.value = 1n;
    assert.equal(call('f'), 'undefined');
    assert.equal(call('f'), 'unreachable');
    fuel.value = 1n;
    assert.equal(call('f'), 'undefined');
  });

  const endless: Readonly<Record<string, string>> = {
    'a loop': '(func (export "f") (loop (br 0)))',
    'a loop of two': '(func (export "f") (loop (loop (br 1))))',
    recursion: '(func $f (export "f") (call $f))',
    'tail calls': '(func $f (export "f") (return_call $g)) (func $g (return_call $f))',
    'indirect tail calls':
      '(type $t (func)) (table funcref (elem $f)) (func $f (export "f") (return_call_indirect (type $t) (i32.const 0)))',
    'a handler that continues': '(tag $e) (func (export "f") (loop (try_table (catch_all 0) (throw $e))))',
    'a legacy handler that continues': '(tag $e) (func (export "f") (loop (try (do (throw $e)) (catch_all (br 1)))))',
    'a handler around a call':
      '(func $g (loop (br 0))) (func (export "f") (loop (try_table (catch_all 0) (call $g)) (br 0)))',
    'a branch by a table': '(func (export "f") (loop (br_table 0 0 (i32.const 5))))',
  };
  for (const [what, functions] of Object.entries(endless)) {
    it(`stops ${what}, at the same point each time`, () => {
      const ends = [1, 2].map(() => {
        const { call, fuel } = fueled(`(module ${functions})`, { fuel: 10_000 });
        const message = call('f');
        assert.equal(message, 'unreachable');
        return fuel.value;
      });
      assert.equal(ends[0], ends[1]);
      assert.ok((ends[0] as bigint) < 0n && (ends[0] as bigint) > -10n);
    });
  }

  it('charges bulk instructions by their size', () => {
    const text = `(module (memory 1) (table $t 9 99 funcref)
      (func (export "fill") (param i32) (memory.fill (i32.const 0) (i32.const 0) (local.get 0)))
      (func (export "copy") (param i32) (memory.copy (i32.const 0) (i32.const 0) (local.get 0)))
      (func (export "grow") (param i32) (drop (table.grow $t (ref.null func) (local.get 0)))))`;
    const { call, fuel } = fueled(text, { fuel: 1_000 });
    const cost = (name: string, size: number) => {
      fuel.value = 1_000n;
      assert.equal(call(name, size), 'undefined');
      return 1_000n - (fuel.value as bigint);
    };
    assert.deepEqual([cost('fill', 0), cost('fill', 800), cost('copy', 800), cost('grow', 64)], [4n, 104n, 104n, 12n]);
    fuel.value = 1_000n;
    assert.equal(call('fill', -1), 'unreachable');
    assert.equal(fuel.value, 996n - 0x1fff_ffffn);
  });

  it('charges sizes of memories with addresses of 64 bits', () => {
    const text = `(module (memory i64 1)
      (func (export "fill") (param i64) (memory.fill (i64.const 0) (i32.const 0) (local.get 0))))`;
    const { call, fuel } = fueled(text, { fuel: 1_000 });
    assert.equal(call('fill', 80n), 'undefined');
    assert.equal(fuel.value, 986n);
    assert.equal(call('fill', -1n), 'unreachable');
  });

  it('calls the host before it traps, which may add fuel', () => {
    const text =
      '(module (func (export "f") (local i32) (loop (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 100))))))';
    let calls = 0;
    const refilled = fueled(text, { fuel: 100, onOutOfFuel: 'call' }, ({ fuel }) => {
      calls++;
      fuel.value = 100n;
    });
    assert.equal(refilled.call('f'), 'undefined');
    assert.ok(calls > 3, `${calls} calls`);
    const stopped = fueled(text, { fuel: 100, onOutOfFuel: 'call' });
    assert.equal(stopped.call('f'), 'unreachable');
    const thrown = fueled(text, { fuel: 100, onOutOfFuel: 'call' }, () => {
      throw new Error('out of fuel');
    });
    assert.equal(thrown.call('f'), 'out of fuel');
  });

  it('limits the start function', () => {
    const text = '(module (start $f) (func $f (loop (br 0))))';
    assert.throws(() => fueled(text, { fuel: 1_000 }), /unreachable/);
  });

  it('refuses other numbers, and an action without fuel', () => {
    for (const fuel of [-1, 0.5, Number.NaN, 2 ** 53]) {
      assert.throws(() => fueled('(module)', { fuel }), { code: 'invalid_config', message: /"fuel"/ });
    }
    assert.throws(() => fueled('(module)', { onOutOfFuel: 'trap' }), { code: 'invalid_config' });
    assert.throws(() => instrument(wat('(module (func))'), { trace: false, banned: [] }), { code: 'invalid_config' });
  });

  it('refuses a module with fuel', () => {
    const { bytes } = instrument(wat('(module (func))'), { trace: false, fuel: 9 });
    assert.throws(() => instrument(bytes, { fuel: 9 }), { code: 'already_instrumented', message: /tenon:fuel/ });
    const traced = new WebAssembly.Module(instrument(bytes).bytes);
    assert.deepEqual(WebAssembly.Module.exports(traced), [{ name: 'tenon:fuel', kind: 'global' }]);
  });
});
