import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSlots } from './slots.ts';

describe('createSlots()', () => {
  it('has so many places for each key and in all, and takes each back once', () => {
    const slots = createSlots(4, 2);
    const take = (key: string) => slots.take(key);
    const [first, second] = [take('a'), take('a')];
    assert.equal(take('a'), 'taken by key');
    assert.equal(typeof take('b'), 'function');
    assert.equal(typeof take('c'), 'function');
    assert.equal(take('d'), 'all taken');
    assert.ok(typeof first === 'function' && typeof second === 'function');
    first();
    first();
    assert.equal(typeof take('d'), 'function');
    assert.equal(take('b'), 'all taken');
    second();
    assert.equal(typeof take('a'), 'function');
  });

  it('gives no key more than is left for others, and the last places to keys that have none', () => {
    const slots = createSlots(100, 64);
    const takeAll = (key: string) => {
      let count = 0;
      while (typeof slots.take(key) === 'function') count++;
      return count;
    };
    assert.deepEqual(['a', 'b', 'c'].map(takeAll), [50, 25, 12]);
    assert.equal(slots.take('a'), 'all taken');
    assert.equal(typeof slots.take('d'), 'function');
  });
});
