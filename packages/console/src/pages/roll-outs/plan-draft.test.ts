import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RollOutPlan } from '@tenon/protocol';
import {
  draftOfPlan,
  mayAddStep,
  nextStep,
  type PlanDraft,
  planFaults,
  planInWords,
  planOf,
  type StepDraft,
  suggestedPlan,
} from './plan-draft.ts';

const plan: RollOutPlan = {
  steps: [
    { ring: 'staff', holdSeconds: 5400 },
    { percent: 1, holdSeconds: 3600 },
    { percent: 10, holdSeconds: 172_800 },
    { percent: 50, holdSeconds: null },
    { percent: 100, holdSeconds: 0 },
  ],
  halt: { minCalls: 50, errorRate: 0.0029, p95Ratio: 1.5, memoryRatio: null },
};

const step = (part: Partial<StepDraft>): StepDraft => ({
  ...{ kind: 'percent', percent: '', ring: '', hold: '1', unit: 'hours' },
  ...part,
});
const withSteps = (...steps: readonly Partial<StepDraft>[]): PlanDraft => ({
  ...suggestedPlan,
  steps: steps.map(step),
});

describe('planOf()', () => {
  it('reverses draftOfPlan()', () => {
    assert.deepEqual(planOf(draftOfPlan(plan)), plan);
    const bare: RollOutPlan = { steps: [{ percent: 7, holdSeconds: 90 }], halt: null };
    assert.deepEqual(planOf(draftOfPlan(bare)), bare);
  });

  it('reads fractions of hours, and spaces', () => {
    assert.deepEqual(planOf(withSteps({ percent: ' 5 ', hold: '0.5' }, { kind: 'ring', ring: ' staff ' })).steps, [
      { percent: 5, holdSeconds: 1800 },
      { ring: 'staff', holdSeconds: 3600 },
    ]);
  });
});

describe('planFaults()', () => {
  it('accepts the suggested plan, and plans of the server', () => {
    assert.equal(planFaults(suggestedPlan), undefined);
    assert.equal(planFaults(draftOfPlan(plan)), undefined);
  });

  it('names the fault of each field', () => {
    const cases: readonly (readonly [Partial<StepDraft>, RegExp])[] = [
      [{ percent: '' }, /whole number from 1 to 100/],
      [{ percent: '0' }, /whole number from 1 to 100/],
      [{ percent: '101' }, /whole number from 1 to 100/],
      [{ percent: '1.5' }, /whole number from 1 to 100/],
      [{ percent: '10' }, /more than 10/],
      [{ kind: 'ring', ring: '' }, /up to 40/],
      [{ kind: 'ring', ring: 'a b' }, /up to 40/],
      [{ kind: 'ring', ring: 'a'.repeat(41) }, /up to 40/],
      [{ kind: 'ring', ring: 'staff' }, /earlier step/],
    ];
    for (const [part, message] of cases) {
      const faults = planFaults(withSteps({ kind: 'ring', ring: 'staff' }, { percent: '10' }, part));
      assert.match(faults?.steps[2]?.guests ?? '', message, JSON.stringify(part));
    }
    assert.match(
      planFaults(withSteps({ percent: '100' }, { kind: 'ring', ring: 'a' }))?.steps[1]?.guests ?? '',
      /100%/,
    );
    for (const hold of ['', '-1', '91', 'x']) {
      const faults = planFaults(withSteps({ percent: '1', hold, unit: 'days' }));
      assert.match(faults?.steps[0]?.hold ?? '', /0 to 90 days/, hold);
    }
    assert.equal(planFaults(withSteps({ percent: '1', hold: '', unit: 'promoted' })), undefined);
  });

  it('names the fault of each limit', () => {
    const limits = { errorPoints: '101', p95Ratio: '0.5', memoryRatio: '1001', minCalls: '0' };
    assert.deepEqual(Object.keys(planFaults({ ...suggestedPlan, ...limits })?.limits ?? {}), Object.keys(limits));
  });
});

describe('nextStep()', () => {
  it('doubles the share up to all guests', () => {
    assert.equal(nextStep(withSteps({ kind: 'ring', ring: 'a' }).steps).percent, '1');
    assert.equal(nextStep(withSteps({ percent: '10' }).steps).percent, '20');
    assert.equal(nextStep(withSteps({ percent: '60' }).steps).percent, '100');
    assert.equal(nextStep(withSteps({ percent: '100' }).steps).percent, '');
    assert.equal(mayAddStep(withSteps(...Array.from({ length: 10 }, () => ({})))), false);
  });
});

describe('planInWords()', () => {
  it('says the steps and the limits', () => {
    assert.equal(
      planInWords(plan),
      'ring staff for 90 minutes, then 1% for 1 hour, then 10% for 2 days, then 50% until promoted, then all guests. It halts at 0.29 percentage points more errors and 1.5 times the call time',
    );
  });
});
