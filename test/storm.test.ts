import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noPostgres } from '../packages/server/test/helpers/postgres.ts';
import { runStorm } from './storm/run.ts';

// A short one. `node test/storm/main.ts` has it rage for as long as it is told.
describe('three nodes, PostgreSQL and an object store, which all fail at random under load', {
  skip: noPostgres,
}, () => {
  it('answer right or not at all, keep all that was acknowledged, and come back by themselves', async (test) => {
    const { counts, faults } = await runStorm({ seed: 8, seconds: 7 });
    for (const [what, times] of counts) test.diagnostic(`${times} ${what}`);
    assert.deepEqual(faults, []);
    const happened = (what: RegExp) => [...counts.keys()].some((name) => what.test(name));
    for (const what of [
      /^node: /,
      /^database: /,
      /^objects: /,
      /^PUT api\/v1\/artifacts: 20/,
      /^GET api\/v1\/c: 200/,
      /^tenon admin verify: whole/,
    ]) {
      assert.ok(happened(what), `nothing of ${what}`);
    }
  });
});
