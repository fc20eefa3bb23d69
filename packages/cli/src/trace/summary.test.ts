import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FunctionStatistics, TraceStatistics } from '@tenon/trace';
import { spreadOf, summarize } from './summary.ts';

describe('spreadOf()', () => {
  it('gives values that were seen, never ones between', () => {
    const values = Array.from({ length: 100 }, (_, at) => at + 1);
    assert.deepEqual(spreadOf(values), { min: 1, median: 50, p95: 95, max: 100 });
    assert.deepEqual(spreadOf([30, 10, 20]), { min: 10, median: 20, p95: 30, max: 30 });
    assert.deepEqual(spreadOf([7]), { min: 7, median: 7, p95: 7, max: 7 });
    assert.deepEqual(spreadOf([]), { min: 0, median: 0, p95: 0, max: 0 });
  });
});

describe('summarize()', () => {
  it('counts a function that some runs did not call as one that took no time in them', () => {
    const statistics = {
      functions: [3, 4].map((index) => ({ function: { index, rawName: `f${index}`, name: `f${index}` } })),
    } as unknown as TraceStatistics & { functions: FunctionStatistics[] };
    const { runs, timeNano, functions } = summarize(
      [
        { timeNano: 30, functions: [{ index: 3, calls: 2, totalNano: 30, selfNano: 20 }] },
        {
          timeNano: 90,
          functions: [
            { index: 3, calls: 1, totalNano: 90, selfNano: 30 },
            { index: 4, calls: 5, totalNano: 60, selfNano: 60 },
          ],
        },
        { timeNano: 60, functions: [{ index: 3, calls: 1, totalNano: 60, selfNano: 10 }] },
      ],
      statistics,
    );
    assert.equal(runs, 3);
    assert.deepEqual(timeNano, { min: 30, median: 60, p95: 90, max: 90 });
    assert.deepEqual(
      functions.map(({ name, calls, self }) => [name, calls, self]),
      [
        ['f3', 4, { min: 10, median: 20, p95: 30, max: 30 }],
        ['f4', 5, { min: 0, median: 0, p95: 60, max: 60 }],
      ],
    );
  });
});
