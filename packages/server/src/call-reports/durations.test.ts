import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addDurations, durationBucket, fromHistogram, percentile } from './durations.ts';

describe('durationBucket()', () => {
  for (const [seconds, bucket] of [
    [-1, 0],
    [0, 0],
    [10e-6, 0],
    [10.1e-6, 1],
    [20e-6, 4],
    [40e-6, 8],
    [0.01024, 40],
    [1e9, 92],
    [Number.MAX_VALUE, 92],
  ] as const) {
    it(`has ${seconds} s in bucket ${bucket}`, () => assert.equal(durationBucket(seconds), bucket));
  }
});

describe('fromHistogram()', () => {
  it('keeps all counts, whatever the bounds', () => {
    const durations = fromHistogram([0, 5, 10, 10_000], [1, 2, 0, 3, 4]);
    assert.deepEqual(durations, { 0: 1, 76: 2, 92: 7 });
  });

  it('adds counts that share a bucket', () => {
    assert.deepEqual(fromHistogram([1e-6, 2e-6], [1, 2, 3]), { 0: 3, 1: 3 });
  });
});

describe('addDurations()', () => {
  it('adds bucket by bucket', () => {
    assert.deepEqual(addDurations({ 1: 1, 2: 2 }, { 2: 3, 4: 4 }), { 1: 1, 2: 5, 4: 4 });
  });
});

describe('percentile()', () => {
  it('is null without counts', () => {
    assert.equal(percentile({}, 0.95), null);
    assert.equal(percentile({ 3: 0 }, 0.95), null);
  });

  it('interpolates within a bucket', () => {
    assert.equal(percentile({ 0: 100 }, 0.95), 9.5e-6);
    assert.equal(percentile({ 0: 50, 92: 50 }, 0.5), 10e-6);
  });

  it('is the lower bound of the last bucket', () => {
    const seconds = percentile({ 92: 1 }, 0.95) ?? 0;
    assert.ok(seconds > 70 && seconds < 80, String(seconds));
  });

  it('is at most a fifth off the real one', () => {
    for (const seconds of [0.0003, 0.0042, 0.017, 0.9, 7]) {
      const found = percentile({ [durationBucket(seconds)]: 40 }, 0.95) ?? 0;
      assert.ok(Math.abs(found / seconds - 1) < 0.2, `${seconds} became ${found}`);
    }
  });
});
