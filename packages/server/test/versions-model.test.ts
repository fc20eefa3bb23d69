import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noPostgres, startPostgres } from './helpers/postgres.ts';
import { runSequences } from './model/run.ts';

const count = 10_000;

/** What has to come about in so many sequences for them to show anything: each kind of operation done, and each refused. */
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
  'news told',
];

describe('versions and what is bound', () => {
  it(`agree with the model in ${count} random sequences: each outcome, each list after each step, and news of exactly those that changed`, async () => {
    const tally = await runSequences({ firstSeed: 1, count, threads: 2 });
    const missing = expectedOutcomes.filter((outcome) => (tally.get(outcome) ?? 0) < 3);
    assert.deepEqual(missing, []);
  });

  const few = 300;
  it(`agree with the model in ${few} of them on PostgreSQL, whose nodes are two`, { skip: noPostgres }, async () => {
    const server = await startPostgres();
    const { url } = await server.createDatabase();
    try {
      const tally = await runSequences({ firstSeed: 1, count: few, threads: 2, databaseUrl: url });
      assert.ok((tally.get('publish done') ?? 0) > few);
    } finally {
      server.stop();
    }
  });
});
