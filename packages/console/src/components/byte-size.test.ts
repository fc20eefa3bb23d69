import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byteSize, byteSizes } from './byte-size.ts';

describe('byteSize()', () => {
  it('gives three digits in the unit that fits', () => {
    const sizes: readonly (readonly [number, string])[] = [
      [0, '0 bytes'],
      [1, '1 byte'],
      [1023, '1023 bytes'],
      [1024, '1.00 KiB'],
      [18_231, '17.8 KiB'],
      [102_348, '99.9 KiB'],
      [102_400, '100 KiB'],
      [1_048_063, '1023 KiB'],
      [1_048_064, '1.00 MiB'],
      [104_857_600, '100 MiB'],
      [5_000_000_000, '4.66 GiB'],
    ];
    for (const [bytes, words] of sizes) assert.equal(byteSize(bytes), words);
  });
});

describe('byteSizes()', () => {
  it('is exact where two sizes would look the same', () => {
    assert.deepEqual(byteSizes(70_000_000, 67_108_864), ['66.8 MiB', '64.0 MiB']);
    assert.deepEqual(byteSizes(67_108_865, 67_108_864), ['67,108,865 bytes', '67,108,864 bytes']);
  });
});
