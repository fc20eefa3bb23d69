import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPlugin } from '@extism/extism';
import { ClientError } from '@tenon/client';
import { withFuel } from '@tenon/client/fuel';
import { instrument } from '@tenon/instrument';
import { wat } from '../../../test/helpers/wat.ts';

const bytes = wat(`(module
  (func (export "sum") (param $n i32) (result i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (local.get $n)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))
  (func (export "spin") (result i32) (loop $again (br $again)) (i32.const 0))
  (func (export "trap") (result i32) unreachable))`);

const limited = new WebAssembly.Module(instrument(bytes, { trace: false, fuel: 1e6 }).bytes);
type Call = (...args: number[]) => number;
const open = () => {
  const instance = new WebAssembly.Instance(limited);
  return { instance, exports: instance.exports as Record<'sum' | 'spin' | 'trap', Call> };
};
const isOut = (error: unknown) => error instanceof ClientError && error.code === 'out_of_fuel';

describe('withFuel()', () => {
  it('returns what the call returns, and gives each call its instructions', () => {
    const { instance, exports } = open();
    for (let call = 0; call < 100; call++) {
      assert.equal(
        withFuel(instance, 20_000, () => exports.sum(1_000)),
        500_500,
      );
    }
    assert.throws(() => withFuel(instance, 5_000, () => exports.sum(1_000)), isOut);
  });

  it('stops a loop that never ends', () => {
    const { instance, exports } = open();
    assert.throws(() => withFuel(instance, 1_000_000, exports.spin), isOut);
  });

  it('throws other errors unchanged', () => {
    const { instance, exports } = open();
    assert.throws(() => withFuel(instance, 1_000, exports.trap), WebAssembly.RuntimeError);
  });

  it('rejects a promise, as of Extism', async () => {
    const plugin = await createPlugin({ wasm: [{ module: limited }] });
    try {
      const instance = await plugin.getInstance();
      await assert.rejects(
        withFuel(instance, 100_000, () => plugin.call('spin')),
        isOut,
      );
    } finally {
      await plugin.close();
    }
  });

  it('refuses modules without fuel, and other numbers', () => {
    const { instance } = open();
    const isInvalid = (error: unknown) => error instanceof ClientError && error.code === 'invalid_argument';
    for (const instructions of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
      assert.throws(() => withFuel(instance, instructions, () => 0), isInvalid);
    }
    assert.throws(() => withFuel(new WebAssembly.Instance(new WebAssembly.Module(bytes)), 1, () => 0), isInvalid);
  });
});
