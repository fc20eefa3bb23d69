import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSlots } from './slots.ts';

describe('createSlots()', () => {
  it('has so many places for each key and in all, and takes each back once', () => {
    const slots = createSlots(3, 2);
    const take = (key: string) => slots.take(key);
    const [first, second] = [take('a'), take('a')];
    assert.equal(take('a'), 'taken by key');
    assert.equal(typeof take('b'), 'function');
    assert.equal(take('c'), 'all taken');
    assert.ok(typeof first === 'function' && typeof second === 'function');
    first();
    first();
    assert.equal(typeof take('a'), 'function');
    assert.equal(take('a'), 'taken by key');
    assert.equal(take('b'), 'all taken');
    second();
    assert.equal(typeof take('c'), 'function');
  });
});
