import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { noPostgres, sharedPostgres } from '../../../test/helpers/postgres.ts';
import { watchRevision } from './revision.ts';

describe('watchRevision() on a machine that was suspended', { skip: noPostgres, timeout: 120_000 }, () => {
  for (const forward of ['wallMs', 'monotonicMs'] as const) {
    it(`does not trust the revision after only ${forward} advanced, until the next ping`, async () => {
      const { url } = await (await sharedPostgres()).createDatabase();
      const times = { monotonicMs: 0, wallMs: 1_000_000 }; // both stand still but for what the test does
      const clocks = { monotonicMs: () => times.monotonicMs, wallMs: () => times.wallMs };
      const watch = await watchRevision({ url, waitMs: 60_000 }, clocks);
      try {
        const hears = async () => {
          while (!watch.isTrusted()) await sleep(10);
        };
        await hears();
        const before = watch.current();
        times[forward] += 700;
        assert.equal(watch.current(), before);
        times[forward] += 20_000; // in the same turn: no ping can be back
        assert.equal(watch.isTrusted(), false);
        assert.notEqual(watch.current(), before);
        assert.notEqual(watch.current(), watch.current());
        await hears();
        assert.equal(watch.current(), watch.current());
        times.wallMs -= 5_000; // set back: the monotonic clock is believed
        times.monotonicMs += 900;
        assert.equal(watch.isTrusted(), false);
      } finally {
        await watch.close();
      }
    });
  }
});
