import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { loadConfig } from '../../config/config.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { createRequestLimits } from './request-limits.ts';

describe('createRequestLimits()', () => {
  it('uses a monotonic clock: setting the system time back locks no client out', () => {
    const hourMs = 3_600_000;
    const startMs = Date.now();
    const config = { ...loadConfig({}, {}), writesPerSecond: 1000, writeBurst: 1, signInTriesPerMinute: 1 };
    const wallClock = mock.method(Date, 'now', () => startMs + 8 * hourMs);
    try {
      const { rates } = createRequestLimits(config);
      assert.equal(rates.writes.take('token'), 0);
      assert.equal(rates.byAddress.take('address'), 0);
      wallClock.mock.mockImplementation(() => startMs);
      assert.ok(rates.writes.take('token') <= 1);
      assert.ok(rates.byAddress.take('address') <= 60);
    } finally {
      wallClock.mock.restore();
    }
  });

  it('divides limits on guesses by the number of workers, but no other limits', () => {
    const inARow = (limiter: RateLimiter): number => {
      let count = 0;
      while (limiter.take('key') === 0) count++;
      return count;
    };
    const allowed = (workers: number) => {
      const { rates } = createRequestLimits(
        { ...loadConfig({}, {}), workers, codeTriesPerMinute: 3, writeBurst: 40 },
        () => 0,
      );
      return [rates.byAccount, rates.codeTries, rates.writes].map(inARow);
    };
    assert.deepEqual(allowed(1), [10, 3, 40]);
    assert.deepEqual(allowed(4), [2, 1, 40]);
  });
});
