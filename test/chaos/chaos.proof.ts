import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { runChaos } from './run.ts';
import { seededFaults } from './seeded-faults.ts';

const seed = 8;

describe('chaos: nodes return no wrong response and lose no acknowledged write', { timeout: 900_000 }, () => {
  it('on a shared folder', () => passes('embedded'));

  it('on PostgreSQL and an object store', { skip: noPostgres }, () => passes('postgres'));
});

describe('chaos: a seeded fault is detected', () => {
  // Faults of stores show only when a kill meets them: `main.ts` runs them for as long as it takes.
  const betweenClientAndNodes = Object.entries(seededFaults).filter(([, { storeFault }]) => storeFault === undefined);
  for (const [name, { description, detectedBy }] of betweenClientAndNodes) {
    it(`${name}: ${description}`, { timeout: 900_000 }, async () => {
      const { violations } = await runChaos({ environment: 'embedded', seed, seconds: 300, seededFault: name });
      assert.ok(
        violations.some((violation) => detectedBy.test(violation)),
        `not detected; violations: ${violations.join('\n')}`,
      );
    });
  }
});

async function passes(environment: string): Promise<void> {
  const { violations, counts } = await runChaos({ environment, seed, rounds: 1 });
  assert.deepEqual(violations, []);
  assert.equal(counts.get('tenon admin verify: passed'), 1);
}
