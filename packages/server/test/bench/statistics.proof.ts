import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLatencies } from '../../bench/support/latencies.ts';
import { median, medianOf } from '../../bench/support/statistics.ts';

describe('median()', () => {
  it('is the middle one by size, or the mean of two', () => {
    assert.equal(median([30, 1, 200]), 30);
    assert.equal(median([4, 1, 2, 100]), 3);
    assert.equal(median([]), undefined);
  });

  it('leaves out what there is nothing of', () => {
    assert.equal(
      medianOf([1, 2, 3], (value) => (value === 2 ? undefined : value * 10)),
      20,
    );
  });
});

describe('createLatencies()', () => {
  it('tells percentiles to a hundredth', () => {
    const latencies = createLatencies();
    for (let us = 1000; us > 0; us--) latencies.note(us * 100);
    for (const share of [0.01, 0.5, 0.99, 1]) {
      const ratio = (latencies.percentileMs(share) ?? 0) / (share * 100);
      assert.ok(ratio >= 0.999 && ratio <= 1.011, `${share}: ${ratio}`);
    }
  });

  it('adds what others have counted', () => {
    const [one, other] = [createLatencies(), createLatencies()];
    one.note(100);
    for (let times = 0; times < 3; times++) other.note(5000);
    one.add(other.counts);
    assert.equal(one.total, 4);
    assert.ok((one.percentileMs(0.25) ?? 0) < 0.2);
    assert.ok((one.percentileMs(0.5) ?? 0) > 4.9);
  });

  it('has no percentile of nothing, and takes what took no time', () => {
    const latencies = createLatencies();
    assert.equal(latencies.percentileMs(0.5), undefined);
    latencies.note(0);
    assert.equal(latencies.percentileMs(0.99), 0.001);
  });
});
