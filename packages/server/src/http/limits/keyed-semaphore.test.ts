import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKeyedSemaphore } from './keyed-semaphore.ts';

describe('createKeyedSemaphore()', () => {
  it('limits the permits per key and in total, and releases each permit once', () => {
    const slots = createKeyedSemaphore(4, 2);
    const take = (key: string) => slots.acquire(key);
    const [first, second] = [take('a'), take('a')];
    assert.equal(take('a'), 'key limit');
    assert.equal(typeof take('b'), 'function');
    assert.equal(typeof take('c'), 'function');
    assert.equal(take('d'), 'total limit');
    assert.ok(typeof first === 'function' && typeof second === 'function');
    first();
    first();
    assert.equal(typeof take('d'), 'function');
    assert.equal(take('b'), 'total limit');
    second();
    assert.equal(typeof take('a'), 'function');
  });

  it('gives a key at most as many permits as stay free, and the last ones to keys without any', () => {
    const slots = createKeyedSemaphore(100, 64);
    const takeAll = (key: string) => {
      let count = 0;
      while (typeof slots.acquire(key) === 'function') count++;
      return count;
    };
    assert.deepEqual(['a', 'b', 'c'].map(takeAll), [50, 25, 12]);
    assert.equal(slots.acquire('a'), 'total limit');
    assert.equal(typeof slots.acquire('d'), 'function');
  });
});
