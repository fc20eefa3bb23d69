import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Level, type Logger, pino } from 'pino';
import { addressOfBytes, bytesOf } from '../../test/helpers/bytes.ts';
import { closeContext, openContext } from '../../test/helpers/first-start-services.ts';
import { createRecords, versionRecord } from '../../test/helpers/records.ts';
import { openStoreFixture, type StoreFixture } from '../../test/helpers/store-fixture.ts';
import type { BlobKey } from '../db/blob-key.ts';
import type { Deps } from '../deps.ts';
import { trustClock } from './clock-gap.ts';
import { collect } from './collect.ts';
import { startGarbageCollector } from './garbage-collector.ts';

const anHour = { collectIntervalMs: 3_600_000, collectGraceMs: 1 };
const often = { collectIntervalMs: 5, collectGraceMs: 1 };

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly deleted?: number;
}

describe('startGarbageCollector()', () => {
  let fixture: StoreFixture;
  let deps: Deps;
  let lines: Line[];
  let log: Logger<never>;
  beforeEach(async () => {
    fixture = await openStoreFixture();
    deps = await openContext(fixture.dataDir);
    lines = [];
    const level: Level = 'info';
    log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  });
  afterEach(async () => {
    await closeContext(deps);
    await fixture.close();
  });

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (const endMs = performance.now() + 20_000; !(await isSo()); await sleep(5)) {
      assert.ok(performance.now() < endMs, 'in time');
    }
  }

  const isEmpty = async () => (await Array.fromAsync(fixture.blobs.list())).length === 0;

  /** Inserts versions without blobs, so that the collector deletes less than half of all contents. */
  async function keepMost(): Promise<void> {
    const { key } = await createRecords(fixture.store).stage();
    for (let seed = 100; seed < 140; seed++) {
      const contentAddress = addressOfBytes(bytesOf(seed, 10));
      const held = { address: contentAddress, size: 10, generation: '', leaseUntilMs: 0 };
      await fixture.store.write(async (tx) => {
        await tx.leaseBlob(held);
        await tx.insertVersion(versionRecord(key(`plugin-${seed}`), { contentAddress, size: 10 }));
      });
    }
  }

  it('collects at an interval, and logs only runs with changes', async () => {
    const collector = startGarbageCollector(deps, often, log);
    for (const seed of [1, 2]) {
      await fixture.putUnused(bytesOf(seed, 1000));
      await until(isEmpty);
    }
    const deleted = () => lines.reduce((sum, { deleted = 0 }) => sum + deleted, 0);
    await until(() => deleted() === 2); // a run is logged at its end
    const done = lines.length;
    await sleep(50);
    assert.equal(lines.length, done, 'later runs had no changes');
    await collector.stop();
  });

  it('continues after a failed run, and logs the error', async () => {
    let fails = 0;
    const blobs = {
      ...deps.blobs,
      delete(key: BlobKey) {
        if (fails++ === 0) throw new Error('the disk is gone');
        return deps.blobs.delete(key);
      },
    };
    const collector = startGarbageCollector({ ...deps, blobs }, often, log);
    await fixture.putUnused(bytesOf(1, 1000));
    await until(isEmpty);
    const failures = lines.filter(({ level }) => level === 50);
    assert.deepEqual(
      failures.map(({ msg }) => msg),
      ['gc: failed'],
    );
    assert.match(JSON.stringify(failures), /the disk is gone/);
    await collector.stop();
  });

  it('restarts all grace periods when the clock has jumped since the last run', async () => {
    const graceMs = 24 * 3_600_000;
    const bytes = bytesOf(1, 1000);
    await keepMost();
    await fixture.putUnused(bytes);
    let aheadMs = 0;
    const jumping = { ...deps, clock: () => Date.now() + aheadMs };
    await collect(jumping, { graceMs });
    aheadMs = 5 * graceMs;
    await trustClock(jumping); // maintenance treats such a gap as downtime
    const runs = async (): Promise<number> => {
      const maintenanceRuns = await deps.store.read.maintenanceRuns();
      return maintenanceRuns.find(({ kind }) => kind === 'collect')?.endedAtMs ?? 0;
    };
    const runOnce = async () => {
      const before = await runs();
      const collector = startGarbageCollector(jumping, { collectIntervalMs: 5, collectGraceMs: graceMs }, log);
      await until(async () => (await runs()) > before);
      await collector.stop();
    };
    await runOnce();
    await runOnce();
    assert.equal(await isEmpty(), false, 'its grace period has just begun');
    for (let times = 0; times < 2; times++) {
      aheadMs += graceMs / 2;
      await runOnce();
    }
    assert.equal(await isEmpty(), true);
  });

  it('stops between runs, and in the middle of a run', async () => {
    const idle = startGarbageCollector(deps, anHour, log);
    await idle.stop();
    await idle.stop();
    await keepMost();
    for (let seed = 0; seed < 40; seed++) await fixture.putUnused(bytesOf(seed, 10));
    const reached = Promise.withResolvers<void>();
    const blobs = {
      ...deps.blobs,
      async delete(key: BlobKey) {
        reached.resolve();
        await sleep(1);
        return deps.blobs.delete(key);
      },
    };
    const busy = startGarbageCollector({ ...deps, blobs }, often, log);
    await reached.promise;
    await busy.stop();
    const left = (await Array.fromAsync(fixture.blobs.list())).length;
    assert.ok(left > 0 && left < 40, `${left} are left`);
    await sleep(30);
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, left, 'nothing is deleted after stop()');
    assert.equal((await deps.store.read.leaseHolders('collect', 0)).length, 0);
    assert.deepEqual(
      lines.filter(({ level }) => level >= 50),
      [],
    );
  });
});
