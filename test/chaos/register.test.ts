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
    const allowed = (fromMs: number, toMs: number) => [...register.allowedValues(fromMs, toMs)].sort().join('');
    return { register, at, allowed };
  };

  it('allows a new value once its write starts, and the old one until it is stale', () => {
    const { register, at, allowed } = open();
    const write = at(5000, () => register.startWrite('b'));
    at(6000, () => write.acknowledge());
    assert.equal(allowed(0, 4999), 'a');
    assert.equal(allowed(0, 5000), 'ab');
    assert.equal(allowed(7000, 9000), 'ab');
    assert.equal(allowed(7001, 9000), 'b');
    assert.equal(register.latest, 'b');
  });

  it('allows both values while a write is not acknowledged', () => {
    const { register, at, allowed } = open();
    at(5000, () => register.startWrite('b'));
    assert.equal(allowed(99_000, 99_001), 'ab');
  });

  it('allows every value that was current during the read', () => {
    const { register, at, allowed } = open();
    for (const [ms, value] of [
      [1000, 'b'],
      [5000, 'c'],
      [9000, 'd'],
    ] as const) {
      const write = at(ms, () => register.startWrite(value));
      at(ms + 10, () => write.acknowledge());
    }
    assert.equal(allowed(2500, 9500), 'bcd');
    assert.equal(allowed(6500, 8999), 'c');
  });
});
