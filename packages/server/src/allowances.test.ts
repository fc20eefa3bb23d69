import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createAllowances } from './allowances.ts';
import { loadConfig } from './config.ts';
import type { RateLimiter } from './domain/ports.ts';

describe('createAllowances()', () => {
  it('counts by elapsed time: a wall clock that is set back locks nobody out', () => {
    const hourMs = 3_600_000;
    const startMs = Date.now();
    const config = { ...loadConfig({}, {}), writesPerSecond: 1000, writeBurst: 1, signInTriesPerMinute: 1 };
    const wallClock = mock.method(Date, 'now', () => startMs + 8 * hourMs);
    try {
      const { rates } = createAllowances(config);
      assert.equal(rates.writes.take('token'), 0);
      assert.equal(rates.byAddress.take('address'), 0);
      wallClock.mock.mockImplementation(() => startMs);
      assert.ok(rates.writes.take('token') <= 1);
      assert.ok(rates.byAddress.take('address') <= 60);
    } finally {
      wallClock.mock.restore();
    }
  });

  it('gives each of several workers a part of the guesses, at least one, and whole limits of everything else', () => {
    const inARow = (limiter: RateLimiter): number => {
      let count = 0;
      while (limiter.take('key') === 0) count++;
      return count;
    };
    const allowed = (workers: number) => {
      const { rates } = createAllowances(
        { ...loadConfig({}, {}), workers, codeTriesPerMinute: 3, writeBurst: 40 },
        () => 0,
      );
      return [rates.byAccount, rates.codeTries, rates.writes].map(inARow);
    };
    assert.deepEqual(allowed(1), [10, 3, 40]);
    assert.deepEqual(allowed(4), [2, 1, 40]);
  });
});
