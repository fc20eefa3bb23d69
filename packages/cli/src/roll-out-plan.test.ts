import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RollOutHalt, RollOutStep } from '@tenon/protocol';
import { formatHalt, formatSteps, parseHalt, parseSteps, planField } from './roll-out-plan.ts';

describe('parseSteps()', () => {
  const valid: Readonly<Record<string, readonly RollOutStep[] | 'all'>> = {
    '1%:1h,10%:1d,100%': [
      { percent: 1, holdSeconds: 3600 },
      { percent: 10, holdSeconds: 86_400 },
      { percent: 100, holdSeconds: 0 },
    ],
    ' ring:staff:1h, 50% ': [
      { ring: 'staff', holdSeconds: 3600 },
      { percent: 50, holdSeconds: null },
    ],
    'ring:early-birds.2': [{ ring: 'early-birds.2', holdSeconds: null }],
    '5%:0,100%:90d': [
      { percent: 5, holdSeconds: 0 },
      { percent: 100, holdSeconds: 7_776_000 },
    ],
    all: 'all',
  };
  for (const [text, steps] of Object.entries(valid)) {
    it(`reads ${text}`, () => assert.deepEqual(parseSteps(text), steps));
  }

  const invalid: Readonly<Record<string, RegExp>> = {
    '': /^Step 1, "": it takes <percent>%, <percent>%:<time>, ring:<name>, or ring:<name>:<time>\.$/,
    '1%:1h,': /^Step 2, "": it takes/,
    '10': /^Step 1, "10": it takes/,
    'staff:1h': /^Step 1, "staff:1h": it takes/,
    '0%': /^Step 1, "0%": the percentage must be a whole number from 1 to 100\.$/,
    '1%:1h,101%': /^Step 2, "101%": the percentage must be a whole number/,
    '1.5%': /^Step 1, "1\.5%": the percentage must be a whole number/,
    '-1%': /the percentage must be a whole number/,
    '10%:1h,10%': /^Step 2, "10%": the percentage must be more than the 10% before it\.$/,
    '10%:1h,ring:staff,5%': /^Step 3, "5%": .* more than the 10%/,
    '1%:soon': /^Step 1, "1%:soon": the time must be whole seconds, at most 90d, as a number and a unit/,
    '1%:': /the time must be/,
    '1%:91d': /at most 90d/,
    '1%:500ms': /whole seconds/,
    '1%:1h:1h': /the time must be/,
    'ring:': /^Step 1, "ring:": the name of a ring must match \^/,
    'ring:a b:1h': /the name of a ring must match/,
    [`ring:${'a'.repeat(41)}`]: /the name of a ring must match/,
    'ring:a,ring:a': /^Step 2, "ring:a": an earlier step has this ring\.$/,
    '100%:1h,ring:a': /all guests have the version after 100%/,
    [Array.from({ length: 11 }, (_, at) => `${at + 1}%`).join()]: /^It takes at most 10 steps \(got 11\)\.$/,
    'all,1%': /^Step 1, "all"/,
  };
  for (const [text, message] of Object.entries(invalid)) {
    it(`refuses ${text.slice(0, 30)}`, () => assert.throws(() => parseSteps(text), { message }));
  }
});

describe('parseHalt()', () => {
  const none = { errorRate: null, p95Ratio: null, memoryRatio: null };
  const valid: Readonly<Record<string, RollOutHalt | 'none'>> = {
    'errors=2%,p95=1.5x,memory=2x,calls=50': { minCalls: 50, errorRate: 0.02, p95Ratio: 1.5, memoryRatio: 2 },
    'errors=0.29%': { ...none, minCalls: 20, errorRate: 0.0029 },
    'errors=0%': { ...none, minCalls: 20, errorRate: 0 },
    'p95=1000x': { ...none, minCalls: 20, p95Ratio: 1000 },
    none: 'none',
  };
  for (const [text, halt] of Object.entries(valid)) {
    it(`reads ${text}`, () => assert.deepEqual(parseHalt(text), halt));
  }

  const invalid: Readonly<Record<string, RegExp>> = {
    '': /^"" is not a limit\. It takes errors=<points>%, p95=<times>x, memory=<times>x, and calls=<number>/,
    'cpu=2x': /^"cpu=2x" is not a limit/,
    'errors=2': /^"errors=2": errors must be from 0% to 100%, as in errors=2%\.$/,
    'errors=2x': /errors must be/,
    'errors=101%': /errors must be/,
    'p95=1.5': /^"p95=1\.5": p95 must be from 1x to 1000x, as in p95=1\.5x\.$/,
    'p95=0.5x': /p95 must be from 1x/,
    'memory=1e3x': /memory must be/,
    'memory=1.5%': /memory must be/,
    'errors=2%,calls=0': /calls must be a whole number from 1 to 1000000/,
    'errors=2%,calls=1.5': /calls must be/,
    'errors=2%,errors=3%': /^"errors=3%": errors is given twice\.$/,
    'calls=5': /^It takes errors, p95, or memory too/,
  };
  for (const [text, message] of Object.entries(invalid)) {
    it(`refuses ${text}`, () => assert.throws(() => parseHalt(text), { message }));
  }
});

describe('planField()', () => {
  it('is absent, null, or a plan', () => {
    assert.deepEqual(planField({}), {});
    assert.deepEqual(planField({ rollOut: 'all' }), { rollOut: null });
    const steps = [{ percent: 1, holdSeconds: null }];
    assert.deepEqual(planField({ rollOut: steps }), { rollOut: { steps, halt: null } });
    assert.deepEqual(planField({ rollOut: steps, halt: 'none' }), { rollOut: { steps, halt: null } });
  });

  it('refuses limits without steps', () => {
    assert.throws(() => planField({ halt: 'none' }), /--halt needs steps/);
    assert.throws(() => planField({ rollOut: 'all', halt: 'none' }), /--halt needs steps/);
  });
});

describe('formatSteps(), formatHalt()', () => {
  it('return what the options take', () => {
    for (const text of ['1%:1h,10%:1d,100%', 'ring:staff:90m,50%', '5%:0,100%:1d', 'all']) {
      const { rollOut = null } = planField({ rollOut: parseSteps(text) });
      assert.equal(formatSteps(rollOut), text);
    }
    for (const text of ['errors=0.29%,p95=1.5x,memory=2x,calls=20', 'errors=0%,calls=1', 'none']) {
      const halt = parseHalt(text);
      assert.equal(formatHalt(halt === 'none' ? null : halt), text);
    }
  });
});
