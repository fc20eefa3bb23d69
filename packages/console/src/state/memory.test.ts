import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemory } from './memory.ts';

describe('createMemory()', () => {
  it('gives back what was kept last', () => {
    const memory = createMemory();
    assert.equal(memory.get('a'), undefined);
    memory.set('a', 1);
    memory.set('a', 2);
    assert.equal(memory.get('a'), 2);
  });

  it('forgets what was kept longest ago, beyond a hundred entries', () => {
    const memory = createMemory();
    for (let at = 0; at < 100; at++) memory.set(`${at}`, at);
    memory.set('0', 'again');
    memory.set('100', 100);
    assert.equal(memory.get('1'), undefined);
    assert.equal(memory.get('0'), 'again');
    assert.equal(memory.get('100'), 100);
  });
});
