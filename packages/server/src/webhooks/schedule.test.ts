import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorOfStatus, nextAttemptAtMs, pauseMs, readRetryAfter } from './schedule.ts';

describe('nextAttemptAtMs()', () => {
  it('follows the schedule, with up to a tenth of jitter', () => {
    const seconds = (random: number) =>
      Array.from({ length: 10 }, (_, index) => nextAttemptAtMs(index + 1, 0, random)).map((ms) => ms && ms / 1000);
    const hours = (count: number) => count * 3600;
    const plain = [5, 300, 1800, hours(2), hours(5), hours(10), hours(14), hours(20), hours(24), undefined];
    assert.deepEqual(seconds(0), plain);
    assert.deepEqual(seconds(1).slice(0, 3), [5.5, 330, 1980]);
  });
});

describe('errorOfStatus()', () => {
  it('accepts 2xx only', () => {
    assert.deepEqual([200, 204, 299, 301, 308, 400, 410, 500, 100].map(errorOfStatus), [
      null,
      null,
      null,
      'redirect',
      'redirect',
      'status',
      'status',
      'status',
      'status',
    ]);
  });
});

describe('pauseMs()', () => {
  const pause = (status: number, retryAfterMs?: number) =>
    pauseMs({ status, error: 'status', response: '', durationMs: 1, retryAfterMs });

  it('pauses for overloaded receivers, and as long as retry-after says, a day at most', () => {
    assert.deepEqual([pause(500), pause(410), pause(503), pause(500, 9000)], [0, 0, 0, 9000]);
    assert.deepEqual([pause(429), pause(502), pause(504)], [60_000, 60_000, 60_000]);
    assert.deepEqual([pause(429, 9000), pause(503, 9000), pause(429, 0)], [9000, 9000, 1000]);
    assert.equal(pause(429, 1e12), 24 * 3600_000);
  });
});

describe('readRetryAfter()', () => {
  it('reads both forms, and nothing else', () => {
    assert.equal(readRetryAfter(' 120 ', 0), 120_000);
    assert.equal(readRetryAfter('Thu, 01 Jan 1970 00:00:07 GMT', 2000), 5000);
    assert.equal(readRetryAfter('Thu, 01 Jan 1970 00:00:00 GMT', 2000), 0);
    for (const field of [undefined, '', '-1', '1.5', 'soon', '9'.repeat(40)]) {
      assert.equal(readRetryAfter(field, 0), undefined);
    }
  });
});
