import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ByteBudget, createByteBudget } from './body-memory.ts';

/** How much a caller gets with requests of 10 bytes each, until one is refused. */
function fill(budget: ByteBudget, caller: string): number {
  const before = budget.used;
  while (budget.lease(caller).take(10));
  return budget.used - before;
}

describe('createByteBudget()', () => {
  it('lends free bytes to a request, and takes them back', () => {
    const budget = createByteBudget(100);
    const lease = budget.lease('a');
    assert.equal(lease.take(60), true);
    assert.equal(lease.take(41), false);
    assert.equal(lease.take(40), true);
    assert.equal(budget.used, 100);
    lease.end();
    lease.end();
    assert.equal(budget.used, 0);
    assert.equal(lease.take(1), false);
  });

  it('leaves as many bytes free as the requests of one caller may take together', () => {
    const budget = createByteBudget(1000);
    assert.equal(fill(budget, 'a'), 500);
    assert.equal(fill(budget, 'b'), 250);
    assert.equal(fill(budget, 'c'), 120); // 10 at a time
    assert.equal(budget.lease('d').take(100), true);
    assert.equal(budget.lease('a').take(1), false);
  });

  it('frees the bytes of ended requests for the same caller and for others', () => {
    const budget = createByteBudget(100);
    const leases = Array.from({ length: 5 }, () => budget.lease('a'));
    for (const lease of leases) assert.equal(lease.take(10), true);
    assert.equal(budget.lease('a').take(10), false);
    leases[0]?.end();
    assert.equal(budget.lease('a').take(10), true);
    for (const lease of leases) lease.end();
    assert.equal(budget.used, 10);
    assert.equal(fill(budget, 'b'), 40);
  });
});
