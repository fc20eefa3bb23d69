import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RollOutPlan, reaches, rollOutPlanFault } from '@tenon/protocol';
import { rollOutBucket } from './bucket.ts';

const version = (end: string) => `ver_01j29hxk3mfpq8ad68ha6hbse${end}` as const;

describe('rollOutBucket', () => {
  // Computed with `printf '%s' "$versionId$guestKey" | sha256sum`, and the first 8 digits modulo 10,000.
  it('is the start of the SHA-256 of the version and the guest key', () => {
    assert.equal(rollOutBucket(version('x'), 'tenants/a'), 4303);
    assert.equal(rollOutBucket(version('x'), 'Zürich'), 2238);
    assert.equal(rollOutBucket(version('y'), 'tenants/a'), 353);
  });

  it('spreads guests evenly, and differently for each version', () => {
    const keys = Array.from({ length: 10_000 }, (_, at) => `tenants/${at}`);
    const first = keys.filter((key) => rollOutBucket(version('x'), key) < 1000);
    // Binomial with n = 10,000 and p = 0.1: five standard deviations are 150.
    assert.ok(Math.abs(first.length - 1000) < 150, String(first.length));
    const both = first.filter((key) => rollOutBucket(version('y'), key) < 1000);
    assert.ok(both.length < first.length / 5, String(both.length));
  });
});

const plan: RollOutPlan = {
  steps: [
    { ring: 'staff', holdSeconds: 60 },
    { percent: 1, holdSeconds: 60 },
    { ring: 'beta', holdSeconds: null },
    { percent: 50, holdSeconds: 0 },
  ],
  halt: null,
};

describe('reaches', () => {
  const table: [step: number, bucket: number, ring: string | null, isReached: boolean][] = [
    [0, 0, null, false],
    [0, 0, 'beta', false],
    [0, 9999, 'staff', true],
    [1, 99, null, true],
    [1, 100, null, false],
    [1, 100, 'staff', true],
    [1, 100, 'beta', false],
    [2, 99, null, true],
    [2, 100, 'beta', true],
    [3, 4999, null, true],
    [3, 5000, null, false],
    [3, 5000, 'beta', true],
  ];
  for (const [step, bucket, ring, isReached] of table) {
    it(`step ${step} ${isReached ? 'reaches' : "doesn't reach"} bucket ${bucket} of ring ${ring}`, () => {
      assert.equal(reaches(plan, step, bucket, ring), isReached);
    });
  }

  it('reaches every guest with 100 percent', () => {
    assert.ok(reaches({ steps: [{ percent: 100, holdSeconds: 0 }] }, 0, 9999, null));
  });
});

describe('rollOutPlanFault', () => {
  const percents = (...values: number[]) => values.map((percent) => ({ percent, holdSeconds: 1 }));
  const limits = { minCalls: 1, errorRate: null, p95Ratio: null, memoryRatio: null };
  const ring = { ring: 'a', holdSeconds: 1 };

  it('accepts growing shares and different rings', () => {
    assert.equal(rollOutPlanFault(plan), undefined);
    assert.equal(rollOutPlanFault({ steps: percents(1, 2, 100), halt: { ...limits, p95Ratio: 2 } }), undefined);
  });

  const table: [string, RollOutPlan, string][] = [
    ['an equal share', { steps: percents(1, 1), halt: null }, '/steps/1/percent'],
    ['a smaller share', { steps: [...percents(5), ring, ...percents(4)], halt: null }, '/steps/2/percent'],
    ['a ring twice', { steps: [ring, ring], halt: null }, '/steps/1/ring'],
    ['a ring after all guests', { steps: [...percents(100), ring], halt: null }, '/steps/1/ring'],
    ['no limit', { steps: percents(1), halt: limits }, '/halt'],
  ];
  for (const [what, faulty, pointer] of table) {
    it(`rejects ${what}`, () => assert.equal(rollOutPlanFault(faulty)?.pointer, pointer));
  }
});
