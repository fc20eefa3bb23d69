import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { InstrumentError, instrument, originalOffset, readOffsetMap } from '../src/index.ts';
import { checkOffsetMap } from './support/check-offset-map.ts';
import { samples } from './support/samples.ts';
import { splitModule } from './support/sections.ts';

const manyCalls = wat(`(module
  (import "env" "log" (func $log (param i32)))
  (memory 1)
  ${'(func (param i32) (call $log (local.get 0)) (return))'.repeat(130)}
  (func $f (export "f") (param i32) (result i32) (local i64 f32)
    ${'(call $log (local.get 0)) '.repeat(40)}
    (if (local.get 0) (then (return (memory.grow (i32.const 1)))))
    (return_call $f (i32.const 0))))`);

describe('the offset map', () => {
  it('finds every instruction of every sample', async () => {
    for (const bytes of Object.values(await samples())) assert.ok(checkOffsetMap(bytes));
    for (const options of [{}, { allowed: ['f'] }, { banned: ['f'] }, { banned: ['env.log'] }]) {
      assert.ok(checkOffsetMap(manyCalls, options));
    }
  });

  it('assigns an epilogue to the last `end`, and added functions to no instruction', () => {
    const input = wat('(module (import "env" "f" (func)) (func (export "g")))');
    const { bytes } = instrument(input, { codeMap: true });
    const map = readOffsetMap(bytes);
    assert.ok(map);
    // The input's code section: count, size, no locals, end.
    const offsets = Array.from({ length: 14 }, (_, offset) => originalOffset(map, offset));
    assert.deepEqual(offsets, [0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, undefined, undefined]);
    for (const wrong of [-1, Number.NaN, 1e9]) assert.equal(originalOffset(map, wrong), undefined);
  });

  it('is only written on request', () => {
    assert.equal(readOffsetMap(instrument(manyCalls).bytes), undefined);
    assert.equal(readOffsetMap(manyCalls), undefined);
  });

  it('refuses a malformed section', () => {
    const malformed = {
      'no bytes': [],
      'another version': [2, 0, 1, 0, 0],
      'no points': [1, 0, 0],
      'a count that the bytes cannot hold': [1, 0, 200, 1, 0, 0],
      'offsets that descend': [1, 0, 2, 9, 0, 0, 0x4c],
      'bytes behind the last point': [1, 0, 1, 0, 0, 0],
    };
    for (const [what, contents] of Object.entries(malformed)) {
      const bytes = splitModule(manyCalls).withCustom('tenon.code-map', Uint8Array.from(contents));
      assert.throws(() => readOffsetMap(bytes), InstrumentError, what);
    }
  });
});
