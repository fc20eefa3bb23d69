import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallPoint } from '@tenon/protocol';
import { alignPoints, linePath } from './align-points.ts';

const point = (at: string, calls: number): CallPoint => ({
  ...{ at, calls, errors: 0, errorRate: 0, p95Seconds: null, memoryBytes: null },
});
const series = (version: number, points: CallPoint[]) => ({ version, totals: point('', 0), points });

describe('alignPoints()', () => {
  it('pairs the points of both versions by their time', () => {
    const [first, second, third] = ['2026-03-01T10:00:00.000Z', '2026-03-01T10:01:00.000Z', '2026-03-01T10:02:00.000Z'];
    const [a, b, c] = [point(second, 1), point(third, 2), point(first, 3)];
    assert.deepEqual(alignPoints({ version: series(2, [a, b]), previous: series(1, [c, a]) }), [
      { at: first, current: undefined, before: c },
      { at: second, current: a, before: a },
      { at: third, current: b, before: undefined },
    ]);
    assert.deepEqual(alignPoints({ version: series(2, [a]), previous: null }), [
      { at: second, current: a, before: undefined },
    ]);
    assert.deepEqual(alignPoints({ version: series(2, []), previous: null }), []);
  });
});

describe('linePath()', () => {
  it('connects values, over gaps', () => {
    assert.equal(linePath([0, null, 1, 2], 2), 'M12.5 100L62.5 50L87.5 0');
  });

  it('has a dot for a single value, and nothing without values', () => {
    assert.equal(linePath([null, 1], 1), 'M75 0L75 0');
    assert.equal(linePath([null, null], 1), '');
  });
});
