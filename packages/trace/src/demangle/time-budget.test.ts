import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTimeBudget } from './time-budget.ts';

describe('createTimeBudget()', () => {
  it('is spent once the allowance is taken, and comes back by its share of the time', () => {
    let nowMs = 1_000;
    const budget = createTimeBudget(() => nowMs, 100, 0.5);
    assert.equal(budget.isSpent(), false);
    nowMs += 99;
    budget.charge(1_000);
    assert.equal(budget.isSpent(), false);
    budget.charge(nowMs - 51);
    assert.equal(budget.isSpent(), true, '150 ms were taken');
    nowMs += 100;
    assert.equal(budget.isSpent(), true, 'and 50 ms came back');
    nowMs += 2;
    assert.equal(budget.isSpent(), false);
    nowMs += 1_000_000;
    budget.charge(nowMs - 99);
    assert.equal(budget.isSpent(), false);
    budget.charge(nowMs - 1);
    assert.equal(budget.isSpent(), true, 'more than the allowance does not collect');
  });
});
