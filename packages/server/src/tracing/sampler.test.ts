import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConfig } from '../config.ts';
import { createSampler } from './sampler.ts';

const parentOf = (traceId: string, traceFlags: number) => ({
  traceId,
  spanId: 'b7ad6b7169203331',
  traceFlags,
  traceState: undefined,
});
const lowest = '0'.repeat(31).concat('1');
const highest = 'f'.repeat(32);

function samplerOf(environment: Readonly<Record<string, string>>, random = 0.5) {
  return createSampler(loadConfig({}, environment), () => random);
}

describe('createSampler()', () => {
  it('traces everything unless something else is said', () => {
    const sampler = samplerOf({});
    assert.equal(sampler.samplesRoot(), true);
    assert.equal(sampler.samplesWithin(parentOf(lowest, 0)), true);
  });

  it('lets chance decide on a share', () => {
    const share = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' };
    assert.equal(samplerOf(share, 0.2499).samplesRoot(), true);
    assert.equal(samplerOf(share, 0.25).samplesRoot(), false);
    assert.equal(samplerOf({ ...share, OTEL_TRACES_SAMPLER_ARG: '0' }, 0).samplesRoot(), false);
    assert.equal(samplerOf({ OTEL_TRACES_SAMPLER: 'always_off' }, 0).samplesRoot(), false);
  });

  for (const name of ['traceidratio', 'parentbased_traceidratio']) {
    it(`heeds neither flag nor id of strangers as ${name}`, () => {
      const share = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.1' };
      for (const id of [lowest, highest])
        for (const flag of [0, 1]) {
          assert.equal(samplerOf(share, 0.9).samplesWithin(parentOf(id, flag)), false);
          assert.equal(samplerOf(share, 0.05).samplesWithin(parentOf(id, flag)), true);
        }
    });
  }

  it('follows trusted callers where it is based on them', () => {
    const sampler = samplerOf({ OTEL_TRACES_SAMPLER: 'parentbased_always_off', TENON_TRUST_TRACEPARENT: 'true' });
    assert.equal(sampler.samplesRoot(), false);
    assert.equal(sampler.samplesWithin(parentOf(lowest, 1)), true);
    assert.equal(sampler.samplesWithin(parentOf(lowest, 0xfe)), false);
  });

  it('takes the share of trusted ids that every other service takes', () => {
    const samples = (share: string, id: string) =>
      samplerOf({
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: share,
        TENON_TRUST_TRACEPARENT: 'true',
      }).samplesWithin(parentOf(id, 0));
    // Rejected below a threshold of 0xc0…: the numbers are those of the specification's 56 bits.
    assert.equal(samples('0.25', `${'a'.repeat(18)}bfffffffffffff`), false);
    assert.equal(samples('0.25', `${'a'.repeat(18)}c0000000000000`), true);
    assert.equal(samples('0', highest), false);
    assert.equal(samples('1', lowest), true);
  });
});
