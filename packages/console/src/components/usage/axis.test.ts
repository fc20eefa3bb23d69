import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { axisMax, dayText, dayTicks, shortNumber } from './axis.ts';

describe('axisMax()', () => {
  it('is a round number that no value exceeds', () => {
    const cases = [
      [0, 1],
      [1, 1],
      [2, 2],
      [3, 4],
      [5, 6],
      [7, 8],
      [9, 10],
      [10, 10],
      [11, 20],
      [61, 80],
      [81, 100],
    ];
    for (const [most = 0, max] of cases) assert.equal(axisMax([0, most]), max, String(most));
    assert.equal(axisMax([]), 1);
    for (const most of [999, 1001, 123_456_789, Number.MAX_SAFE_INTEGER]) {
      assert.ok(axisMax([most]) >= most && axisMax([most]) <= 2 * most, String(most));
    }
  });
});

describe('shortNumber()', () => {
  it('keeps labels short', () => {
    assert.deepEqual([0, 800, 1500, 20_000, 8_000_000].map(shortNumber), ['0', '800', '1.5K', '20K', '8M']);
  });
});

describe('dayTicks()', () => {
  it('has the first day, one per week, and today', () => {
    const days = Array.from({ length: 30 }, (_, at) => new Date(Date.UTC(2026, 1, 1 + at)).toISOString());
    assert.deepEqual(
      dayTicks(days).map(({ text }) => text),
      ['Feb 1', 'Feb 8', 'Feb 15', 'Feb 22', 'Today'],
    );
    assert.equal(dayText(days[0] ?? ''), 'Feb 1, 2026');
    assert.deepEqual(
      dayTicks(days.slice(0, 1)).map(({ text }) => text),
      ['Today'],
    );
  });
});
