import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { addTally, openRunners, type Runners } from './model/run.ts';
import type { Tally } from './model/run-sequence.ts';

/** Random sequences in each part, of which each is a test with a time of its own. */
const [parts, count] = [5, 1_000];

/** Each kind of operation, done and refused. Fewer outcomes would mean that the sequences test too little. */
const expectedOutcomes = [
  'publish done',
  'publish plugin_blocked',
  'publish plugin_name_taken',
  'publish not_a_guest',
  'publish not_found',
  'publish conflict',
  'publish interface_mismatch',
  'decide done',
  'decide conflict',
  'decide forbidden',
  'decide not_found',
  'rollBack done',
  'rollBack conflict',
  'rollBack invalid_field',
  'rollBack not_found',
  'pin done',
  'pin conflict',
  'pin forbidden',
  'unpin done',
  'unpin not_found',
  'block done',
  'unblock done',
  'unblock not_found',
  'delete done',
  'delete plugin_blocked',
  'delete conflict',
  'removeGuest done',
  'removeUser done',
  'join done',
  'settings done',
  'schema done',
  'changes emitted',
  'dry run of decide',
  'dry run of rollBack',
  'dry run of pin',
  'dry run of unpin',
  'dry run of block',
  'dry run of unblock',
  'dry run of delete',
];

describe('versions and what is bound', () => {
  const tally: Tally = new Map();
  let runners: Runners;
  before(() => {
    runners = openRunners({ threads: 2 });
  });
  after(() => runners.close());

  for (let part = 1; part <= parts; part++) {
    it(`agree with the model in ${count} random sequences, part ${part} of ${parts}: each outcome, each list after each step, and news of exactly those that changed`, async () => {
      addTally(tally, await runners.run({ firstSeed: 1 + (part - 1) * count, count }));
    });
  }

  it('reach every possible outcome in these sequences', () => {
    const missing = expectedOutcomes.filter((outcome) => (tally.get(outcome) ?? 0) < 3);
    assert.deepEqual(missing, []);
  });

  const few = 150;
  it(`agree with the model in ${few} of them on PostgreSQL`, { skip: noPostgres }, async () => {
    const { url } = await (await sharedPostgres()).createDatabase();
    // One thread: time that passes in one sequence would release the versions that wait in another.
    const runner = openRunners({ threads: 1, databaseUrl: url });
    try {
      const some = await runner.run({ firstSeed: 1, count: few });
      assert.ok((some.get('publish done') ?? 0) > few);
    } finally {
      await runner.close();
    }
  });
});
