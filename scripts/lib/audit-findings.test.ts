import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditFindings, expiredExceptions } from './audit-findings.mjs';

const advisory = (id: string, severity: string, range: string) => ({
  name: 'left-pad',
  severity,
  title: 'Pads on the right',
  url: `https://github.com/advisories/${id}`,
  range,
});

const report = {
  vulnerabilities: {
    'left-pad': {
      via: [
        advisory('GHSA-high', 'high', '<1.2.3'),
        advisory('GHSA-old', 'critical', '>=1.0.0 <1.1.0 || 1.1.5'),
        advisory('GHSA-low', 'moderate', '<1.2.3'),
        advisory('GHSA-open', 'high', '>=0.0.0'),
      ],
      fixAvailable: true,
    },
    dependent: { via: ['left-pad'], fixAvailable: true },
  },
};

describe('auditFindings()', () => {
  it('fails on high and critical advisories that have a fixed version', () => {
    const { failing, allowed, others } = auditFindings(report, [], '2026-11-22');
    assert.deepEqual(
      failing.map(({ id }) => id),
      ['GHSA-high', 'GHSA-old'],
    );
    assert.deepEqual(allowed, []);
    assert.equal(others, 2);
  });

  it('lets an exception pass up to its last day', () => {
    const exceptions = [{ id: 'GHSA-high', until: '2026-12-31', reason: 'not reachable' }];
    const ids = (today: string) => auditFindings(report, exceptions, today).failing.map(({ id }) => id);
    assert.deepEqual(ids('2026-12-31'), ['GHSA-old']);
    assert.deepEqual(ids('2027-01-01'), ['GHSA-high', 'GHSA-old']);
    assert.deepEqual(expiredExceptions(exceptions, '2026-12-31'), []);
    assert.deepEqual(expiredExceptions(exceptions, '2027-01-01'), exceptions);
  });
});
