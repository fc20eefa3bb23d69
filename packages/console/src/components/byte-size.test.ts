import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byteSize } from './byte-size.ts';

describe('byteSize()', () => {
  it('gives three digits in the unit that fits', () => {
    const sizes: readonly (readonly [number, string])[] = [
      [0, '0 bytes'],
      [1, '1 byte'],
      [999, '999 bytes'],
      [1000, '1.00 kB'],
      [18_231, '18.2 kB'],
      [999_499, '999 kB'],
      [999_500, '1.00 MB'],
      [104_857_600, '105 MB'],
      [5_000_000_000, '5.00 GB'],
    ];
    for (const [bytes, words] of sizes) assert.equal(byteSize(bytes), words);
  });
});
