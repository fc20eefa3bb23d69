import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLru } from './lru.ts';

describe('createLru()', () => {
  it('evicts the least recently used entries, by weight', () => {
    const lru = createLru<string>(10);
    for (const key of ['a', 'b', 'c']) lru.set(key, key, 3);
    assert.equal(lru.get('a'), 'a');
    lru.set('d', 'd', 4);
    assert.deepEqual([...lru.values()], ['c', 'a', 'd']);
    assert.equal(lru.weight, 10);
  });

  it('does not cache an entry that is too heavy, and deletes the one that it replaces', () => {
    const lru = createLru<string>(10);
    lru.set('a', 'old', 1);
    lru.set('b', 'b', 1);
    lru.set('a', 'new', 11);
    assert.equal(lru.get('a'), undefined);
    assert.equal(lru.get('b'), 'b');
    assert.equal(lru.weight, 1);
  });

  it('knows the total weight after replacing and deleting', () => {
    const lru = createLru<number>(5);
    for (let number = 0; number < 20; number++) lru.set('a', number, 1 + (number % 5));
    assert.equal(lru.weight, 5);
    lru.delete('a');
    lru.delete('a');
    assert.deepEqual([lru.weight, lru.size], [0, 0]);
  });
});
