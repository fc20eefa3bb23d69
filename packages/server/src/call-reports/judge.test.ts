import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallTotals, RollOutHalt } from '@tenon/protocol';
import { judgeReports, toCallTotals } from './judge.ts';

const halt: RollOutHalt = { minCalls: 20, errorRate: 0.02, p95Ratio: 1.5, memoryRatio: 2 };

const totals = (changes: Partial<CallTotals> = {}): CallTotals => {
  const { calls = 100, errors = 0 } = changes;
  const errorRate = calls === 0 ? null : errors / calls;
  return { calls, errors, errorRate, p95Seconds: 0.01, memoryBytes: 2 ** 20, ...changes };
};

describe('judgeReports()', () => {
  const cases: readonly {
    readonly what: string;
    readonly limits?: Partial<RollOutHalt>;
    readonly version: Partial<CallTotals>;
    readonly previous?: Partial<CallTotals> | null;
    readonly reason: RegExp | undefined;
  }[] = [
    { what: 'a version like the one before', version: {}, reason: undefined },
    { what: 'no reports', version: { calls: 0 }, reason: undefined },
    { what: 'too few calls', version: { calls: 19, errors: 19 }, reason: undefined },
    {
      what: 'just enough calls, which fail',
      version: { calls: 20, errors: 20 },
      reason: /^Hosts report: 100 % of 20 calls failed \(0 % before, at most 2 % more\)\.$/,
    },
    { what: 'one failed call of 20', version: { calls: 20, errors: 1 }, reason: undefined },
    {
      what: 'one failed call of 20, without a version before',
      version: { calls: 20, errors: 1 },
      previous: null,
      reason: undefined,
    },
    {
      what: 'two failed calls of 20, without a version before',
      version: { calls: 20, errors: 2 },
      previous: null,
      reason: /10 % of 20 calls/,
    },
    {
      what: 'three failed calls of 20, after many calls before',
      version: { calls: 20, errors: 3 },
      previous: { calls: 200, errors: 1 },
      reason: /^Hosts report: 15 % of 20 calls failed \(0\.5 % before, at most 2 % more\)\.$/,
    },
    { what: 'as many errors as allowed', version: { errors: 2 }, reason: undefined },
    { what: 'an error rate that is too great by chance', version: { errors: 5 }, reason: undefined },
    { what: 'an error rate that is too great', version: { errors: 6 }, reason: /6 % of 100 calls failed/ },
    {
      what: 'many calls with an error rate within the limit',
      version: { calls: 1e6, errors: 29_000 },
      previous: { calls: 1e6, errors: 10_000 },
      reason: undefined,
    },
    {
      what: 'many calls with an error rate just beyond the limit',
      version: { calls: 1e6, errors: 31_000 },
      previous: { calls: 1e6, errors: 10_000 },
      reason: /3\.1 % of 1000000 calls failed \(1 % before/,
    },
    { what: 'an error rate like before', version: { errors: 30 }, previous: { errors: 28 }, reason: undefined },
    { what: 'fewer errors than before', version: { errors: 1 }, previous: { errors: 50 }, reason: undefined },
    { what: 'calls that all fail, as before', version: { errors: 100 }, previous: { errors: 100 }, reason: undefined },
    { what: 'errors without a version before', version: { errors: 6 }, previous: null, reason: /failed/ },
    {
      what: 'errors, and a version before with too few calls',
      version: { errors: 6 },
      previous: { calls: 19, errors: 19 },
      reason: /\(0 % before/,
    },
    {
      what: 'an error without a tolerance',
      limits: { errorRate: 0 },
      version: { calls: 20, errors: 1 },
      previous: null,
      reason: /5 % of 20/,
    },
    {
      what: 'no error without a tolerance',
      limits: { errorRate: 0 },
      version: { calls: 20 },
      previous: null,
      reason: undefined,
    },
    { what: 'errors without a limit', limits: { errorRate: null }, version: { errors: 100 }, reason: undefined },
    { what: 'durations at the limit', version: { p95Seconds: 0.015 }, reason: undefined },
    {
      what: 'longer durations',
      version: { p95Seconds: 0.0151 },
      reason: /^Hosts report: 95 % of the calls took up to 15\.1 ms \(10 ms before, at most 1\.5 times\)\.$/,
    },
    { what: 'durations without a limit', limits: { p95Ratio: null }, version: { p95Seconds: 9 }, reason: undefined },
    { what: 'durations without a version before', version: { p95Seconds: 9 }, previous: null, reason: undefined },
    {
      what: 'durations, and a version before with too few calls',
      version: { p95Seconds: 9 },
      previous: { calls: 19 },
      reason: undefined,
    },
    {
      what: 'more memory',
      version: { memoryBytes: 2 ** 21 + 1 },
      reason: /^Hosts report: the memory grew to 2 MiB \(1 MiB before, at most 2 times\)\.$/,
    },
    { what: 'memory at the limit', version: { memoryBytes: 2 ** 21 }, reason: undefined },
    { what: 'memory that only one reports', version: {}, previous: { memoryBytes: null }, reason: undefined },
    {
      what: 'everything',
      version: { errors: 100, p95Seconds: 1, memoryBytes: 2 ** 30 },
      reason: /failed .*; 95 % .*; the memory grew/,
    },
  ];
  for (const { what, limits, version, previous = {}, reason } of cases) {
    it(`${reason === undefined ? 'accepts' : 'halts for'} ${what}`, () => {
      const before = previous === null ? undefined : totals(previous);
      const found = judgeReports({ ...halt, ...limits }, totals(version), before);
      if (reason === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', reason);
    });
  }
});

describe('toCallTotals()', () => {
  it('has no rate and no percentile without calls', () => {
    assert.deepEqual(toCallTotals({ calls: 0, errors: 0, durations: {}, memoryBytes: null }), {
      calls: 0,
      errors: 0,
      errorRate: null,
      p95Seconds: null,
      memoryBytes: null,
    });
  });
});
