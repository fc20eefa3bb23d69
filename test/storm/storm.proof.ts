import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { runStorm, type StormOptions } from './run.ts';

// All kinds of disasters strike, however long that takes. What is held against them knows no haste: see `run.ts`.
const seed = 8;

describe('nodes in a storm tell nothing that is wrong, and lose nothing that was acknowledged', {
  timeout: 900_000,
}, () => {
  it('on a folder that they share', () => weather('embedded'));

  it('on PostgreSQL and an object store', { skip: noPostgres }, () => weather('several'));
});

async function weather(house: StormOptions['house']): Promise<void> {
  const { faults, counts } = await runStorm({ house, seed, rounds: 1 });
  assert.deepEqual(faults, []);
  assert.equal(counts.get('tenon admin verify: whole'), 1);
}
