import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { naturalKey } from './natural-key.ts';

describe('naturalKey()', () => {
  it('sorts as people do: numbers by their value, letters in either case', () => {
    const long = '1'.repeat(30);
    const sorted = [
      'a',
      'A-1',
      'a-2',
      'A-10',
      'a-99',
      'a-100',
      'a-123456789',
      `a-${long}`,
      `a-${long}0`,
      'a.1',
      'B',
      'é',
    ];
    const keyed = sorted.map((text) => ({ text, key: naturalKey(text) }));
    for (const order of [keyed, keyed.toReversed()]) {
      assert.deepEqual(
        order.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ text }) => text),
        sorted,
      );
    }
  });

  it('ignores leading zeros, and at most doubles the length of a text', () => {
    assert.equal(naturalKey('k007'), naturalKey('K7'));
    assert.equal(naturalKey('0'), '10');
    assert.equal(naturalKey('1a'.repeat(256)).length, 768);
    assert.ok(naturalKey('9'.repeat(512)).length < 600);
  });
});
