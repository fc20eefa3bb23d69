import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRegister } from './register.ts';

describe('createRegister()', () => {
  const open = () => {
    let nowMs = 0;
    const register = createRegister('a', () => nowMs, 1000);
    const at = <T>(ms: number, act: () => T): T => {
      nowMs = ms;
      return act();
    };
    const allowed = (fromMs: number, toMs: number) => [...register.allowed(fromMs, toMs)].sort().join('');
    return { register, at, allowed };
  };

  it('allows a change from the moment it was asked for, and what was before it until a while after it was acknowledged', () => {
    const { register, at, allowed } = open();
    const change = at(5000, () => register.begin('b'));
    at(6000, () => change.acknowledged());
    assert.equal(allowed(0, 4999), 'a');
    assert.equal(allowed(0, 5000), 'ab');
    assert.equal(allowed(7000, 9000), 'ab');
    assert.equal(allowed(7001, 9000), 'b');
    assert.equal(register.last, 'b');
  });

  it('allows either as long as nobody knows what came of a change', () => {
    const { register, at, allowed } = open();
    at(5000, () => register.begin('b'));
    assert.equal(allowed(99_000, 99_001), 'ab');
  });

  it('allows all that was so while the question was open', () => {
    const { register, at, allowed } = open();
    for (const [ms, value] of [
      [1000, 'b'],
      [5000, 'c'],
      [9000, 'd'],
    ] as const) {
      const change = at(ms, () => register.begin(value));
      at(ms + 10, () => change.acknowledged());
    }
    assert.equal(allowed(2500, 9500), 'bcd');
    assert.equal(allowed(6500, 8999), 'c');
  });
});
