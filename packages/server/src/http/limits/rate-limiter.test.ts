import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRateLimiter } from './rate-limiter.ts';

describe('createRateLimiter()', () => {
  it('lets a key do its burst at once, then as much as time allows', () => {
    let now = 1_000_000;
    const limiter = createRateLimiter(10, 50, () => now);
    for (let count = 0; count < 50; count++) assert.equal(limiter.take('a'), 0, `${count}`);
    assert.equal(limiter.take('a'), 1);
    now += 100;
    assert.equal(limiter.take('a'), 0);
    assert.equal(limiter.take('a'), 1);
    now += 60_000;
    for (let count = 0; count < 50; count++) assert.equal(limiter.take('a'), 0);
    assert.equal(limiter.take('a'), 1);
  });

  it('keeps keys apart', () => {
    const limiter = createRateLimiter(1, 1, () => 0);
    assert.equal(limiter.take('a'), 0);
    assert.equal(limiter.take('a'), 1);
    assert.equal(limiter.take('b'), 0);
  });

  it('returns how long to wait, without counting rejected requests', () => {
    const limiter = createRateLimiter(1 / 30, 2, () => 0);
    assert.equal(limiter.take('a'), 0);
    assert.equal(limiter.take('a'), 0);
    assert.equal(limiter.take('a'), 30);
    assert.equal(limiter.take('a'), 30);
  });

  it('gives back counted requests one for one', () => {
    const limiter = createRateLimiter(1 / 30, 2, () => 0);
    limiter.take('a');
    limiter.take('a');
    assert.equal(limiter.take('a'), 30);
    limiter.give('a');
    assert.equal(limiter.take('a'), 0);
    assert.equal(limiter.take('a'), 30);
    for (let round = 0; round < 9; round++) limiter.give('a');
    limiter.give('b');
    for (const key of ['a', 'b']) {
      assert.equal(limiter.take(key), 0);
      assert.equal(limiter.take(key), 0);
      assert.equal(limiter.take(key), 30, `${key} has saved nothing up`);
    }
  });
});
