import assert from 'node:assert/strict';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import { addressOfBytes, bytesOf } from '../../test/helpers/bytes.ts';
import { type House, openHouse } from '../../test/helpers/housekeeping.ts';
import { createRecords, versionRecord } from '../../test/helpers/records.ts';
import { type BlobKey, blobKey, newGeneration } from '../db/blob-key.ts';
import { collect } from './collect.ts';
import { takeLease } from './leases.ts';
import { assertBlobsKnown } from './unknown-objects.ts';
import { blobLeaseMs, storeBlob, writeWithBlob } from './with-blob.ts';

const dayMs = 24 * 60 * 60 * 1000;

const nothing = {
  newlyUnused: 0,
  deleted: 0,
  deletedBytes: 0,
  waiting: 0,
  waitingBytes: 0,
  postponed: 0,
  unknown: 0,
  unfinished: 0,
  isHeldByCopy: false,
};

describe('collect()', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse();
  });
  afterEach(() => house.close());

  type Staged = Awaited<ReturnType<ReturnType<typeof createRecords>['stage']>>;

  /** Publishes 1,000 bytes as some plugin, so long ago that the lease has ended. */
  async function published(seed: number, stage?: Staged): Promise<{ address: ContentAddress; stage: Staged }> {
    const at = stage ?? (await createRecords(house.store).stage());
    const bytes = bytesOf(seed, 1000);
    const address = addressOfBytes(bytes);
    await writeWithBlob(house, address, bytes, (tx) =>
      tx.insertVersion(versionRecord(at.key(`plugin-${seed}`), { contentAddress: address, size: 1000 })),
    );
    house.advance(blobLeaseMs);
    return { address, stage: at };
  }

  const isThere = async (address: ContentAddress) => (await house.sizeOf(address)) !== undefined;

  it('does nothing if every blob is referenced', async () => {
    const { address } = await published(1);
    assert.deepEqual(await house.collect(), nothing);
    assert.ok(await isThere(address));
  });

  const leavers: readonly [string, (stage: Staged) => Promise<void>][] = [
    ['a plugin', ({ key }) => house.store.write((tx) => tx.deletePlugin(key('plugin-1')))],
    [
      'an extension point',
      ({ extensionPoint }) => house.store.write((tx) => tx.deleteExtensionPoint(extensionPoint.id)),
    ],
    ['an application', ({ app }) => house.store.write((tx) => tx.deleteApp(app.id))],
    [
      'an account',
      ({ publisher }) => house.store.write((tx) => tx.eraseUser(publisher.id, { name: 'gone', deletedAtMs: 1 })),
    ],
  ];
  for (const [what, leave] of leavers) {
    it(`deletes what ${what} leaves, after the grace period`, async () => {
      const { address, stage } = await published(1);
      await leave(stage);
      const waiting = { waiting: 1, waitingBytes: 1000 };
      assert.deepEqual(await house.collect(dayMs), { ...nothing, newlyUnused: 1, ...waiting });
      house.advance(dayMs - 1);
      assert.deepEqual(await house.collect(dayMs), { ...nothing, ...waiting });
      assert.ok(await isThere(address));
      house.advance(1);
      assert.deepEqual(await house.collect(dayMs), { ...nothing, deleted: 1, deletedBytes: 1000 });
      assert.equal(await isThere(address), false);
      assert.equal(await house.store.read.blob(address), undefined);
      assert.deepEqual(await house.collect(dayMs), nothing);
    });
  }

  it('keeps a blob that another version references', async () => {
    const { address, stage } = await published(1);
    const elsewhere = await createRecords(house.store).stage();
    await createRecords(house.store).version(elsewhere.key('same'), { contentAddress: address });
    await house.store.write((tx) => tx.deleteApp(stage.app.id));
    assert.deepEqual(await house.collect(), nothing);
    assert.ok(await isThere(address));
  });

  it('restarts the grace period of bytes that were published again', async () => {
    const { address, stage } = await published(1);
    await house.store.write((tx) => tx.deletePlugin(stage.key('plugin-1')));
    await house.collect(dayMs);
    await published(1, stage);
    await house.store.write((tx) => tx.deletePlugin(stage.key('plugin-1')));
    house.advance(dayMs);
    assert.deepEqual(await house.collect(dayMs), { ...nothing, newlyUnused: 1, waiting: 1, waitingBytes: 1000 });
    assert.ok(await isThere(address));
  });

  it('keeps a blob that is being stored until its lease expires', async () => {
    const bytes = bytesOf(1, 1000);
    await storeBlob(house, addressOfBytes(bytes), bytes);
    house.advance(blobLeaseMs - 1);
    assert.deepEqual(await house.collect(), nothing);
    house.advance(1);
    assert.deepEqual(await house.collect(), { ...nothing, newlyUnused: 1, deleted: 1, deletedBytes: 1000 });
  });

  it('keeps objects without a row unless it is forced', async () => {
    const { address } = await published(1);
    await house.putUnknown(bytesOf(2, 300));
    house.advance(10 * dayMs);
    assert.deepEqual(await house.collect(), { ...nothing, unknown: 1 });
    const forced = (isDryRun: boolean) => collect(house, { graceMs: dayMs, isForced: true, isDryRun });
    assert.deepEqual(await forced(true), { ...nothing, deleted: 1 });
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 2);
    assert.deepEqual(await forced(false), { ...nothing, deleted: 1, deletedBytes: 300 });
    assert.deepEqual(await Array.fromAsync(house.blobs.list()), [await house.keyOf(address)]);
  });

  it('deletes nothing if the database is empty, even if it is forced', async () => {
    await house.putUnknown(bytesOf(1, 300));
    for (const isForced of [false, true]) {
      await assert.rejects(collect(house, { graceMs: 0, isForced }), { name: 'UnknownBlobsError' });
    }
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 1);
  });

  it('deletes at most half of all blobs unless it is forced', async () => {
    const { stage } = await published(0);
    for (let seed = 1; seed < 25; seed++) await published(seed, stage);
    const drop = async (seed: number) => house.store.write((tx) => tx.deletePlugin(stage.key(`plugin-${seed}`)));
    for (let seed = 0; seed < 13; seed++) await drop(seed);
    const found = await house.collect();
    assert.deepEqual([found?.newlyUnused, found?.postponed, found?.deleted, found?.waiting], [13, 13, 0, 13]);
    const dry = await collect(house, { graceMs: 0, isDryRun: true });
    assert.deepEqual([dry?.postponed, dry?.deleted], [13, 0]);
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 25);
    assert.equal((await collect(house, { graceMs: 0, isForced: true }))?.deleted, 13);
    for (let seed = 13; seed < 19; seed++) await drop(seed);
    assert.equal((await house.collect())?.deleted, 6, 'half of twelve');
  });

  it('finishes an interrupted run, even if the object is already deleted', async () => {
    for (const seed of [1, 2]) await house.putUnused(bytesOf(seed, 300));
    await house.collect(dayMs);
    const nowMs = house.clock();
    await house.store.writeLocking((tx) => tx.markForDeletion({ unusedSinceMs: nowMs, nowMs, limit: 9 }));
    const [first] = await Array.fromAsync(house.blobs.list());
    await house.blobs.delete(first as BlobKey);
    assert.equal((await house.collect(dayMs))?.deleted, 2);
    assert.deepEqual(await Array.fromAsync(house.blobs.list()), []);
    assert.deepEqual(await house.store.read.blobs({ limit: 9 }), []);
    assert.deepEqual(await house.store.read.blobDeletions(9), []);
  });

  it('accepts a database whose blobs are all deleted during the listing', async () => {
    for (const isFinished of [false, true]) {
      const blobs = {
        ...house.blobs,
        async *list() {
          await house.putUnused(bytesOf(1, 300)); // a publish, after it was seen that there is none
          yield* house.blobs.list();
          await house.collect(isFinished ? 0 : dayMs);
          if (isFinished) return;
          const nowMs = house.clock();
          await house.store.writeLocking((tx) => tx.markForDeletion({ unusedSinceMs: nowMs, nowMs, limit: 9 }));
        },
      };
      await assertBlobsKnown({ ...house, blobs });
      await house.collect();
    }
  });

  it('deletes more than one batch', async () => {
    const many = 600;
    const blobs = Array.from({ length: many }, (_, seed) => {
      const bytes = bytesOf(seed, 10);
      return {
        bytes,
        held: { address: addressOfBytes(bytes), size: 10, generation: newGeneration(house.random), leaseUntilMs: 0 },
      };
    });
    await Promise.all(blobs.map(({ bytes, held }) => house.blobs.put(blobKey(held), bytes)));
    await house.store.write(async (tx) => {
      for (const { held } of blobs) await tx.leaseBlob(held);
    });
    const collected = await collect(house, { graceMs: 0, isForced: true });
    assert.deepEqual([collected?.newlyUnused, collected?.deleted], [many, many]);
    assert.deepEqual(await Array.fromAsync(house.blobs.list()), []);
  });

  it('deletes nothing while the store is copied, and what it would have after', async () => {
    await house.putUnused(bytesOf(1, 300));
    const copy = await takeLease(house, 'copy', { lengthMs: dayMs, isExclusive: false });
    const another = await takeLease(house, 'copy', { lengthMs: dayMs, isExclusive: false });
    const held = { ...nothing, newlyUnused: 1, waiting: 1, waitingBytes: 300, isHeldByCopy: true };
    assert.deepEqual(await house.collect(), held);
    await copy?.release();
    assert.deepEqual((await house.collect())?.isHeldByCopy, true);
    await another?.release();
    assert.deepEqual(await house.collect(), { ...nothing, deleted: 1, deletedBytes: 300 });
  });

  it('continues after the lease of a killed copy has expired', async () => {
    await house.putUnused(bytesOf(1, 300));
    await takeLease(house, 'copy', { lengthMs: dayMs, isExclusive: false });
    house.advance(dayMs);
    assert.equal((await house.collect())?.deleted, 1);
  });

  it('does nothing while another process holds the lease', async () => {
    const other = await house.again();
    const lease = await takeLease(other, 'collect', { lengthMs: 5 * 60_000, isExclusive: true });
    assert.equal(await house.collect(), undefined);
    house.advance(5 * 60_000);
    assert.deepEqual(await house.collect(), nothing);
    await lease?.release();
  });

  it('deletes incomplete uploads after an hour', async () => {
    const path = join(house.dataDir, 'blobs', 'tmp', 'left');
    await writeFile(path, 'half');
    await utimes(path, new Date(house.clock()), new Date(house.clock()));
    house.advance(60 * 60_000);
    assert.equal((await house.collect())?.unfinished, 0);
    house.advance(1000);
    assert.equal((await house.collect())?.unfinished, 1);
    assert.deepEqual(await readdir(join(house.dataDir, 'blobs', 'tmp')), []);
  });

  it('changes nothing in a dry run, and returns what would be deleted', async () => {
    await house.putUnused(bytesOf(1, 300));
    await house.collect(dayMs);
    await house.putUnused(bytesOf(2, 400));
    const before = await house.store.read.blobs({ limit: 9 });
    const dry = () => collect(house, { graceMs: dayMs, isDryRun: true });
    assert.deepEqual(await dry(), { ...nothing, newlyUnused: 1, waiting: 2, waitingBytes: 700 });
    house.advance(dayMs);
    const due = { deleted: 1, deletedBytes: 300, waiting: 1, waitingBytes: 400 };
    assert.deepEqual(await dry(), { ...nothing, newlyUnused: 1, ...due });
    assert.deepEqual(await house.store.read.blobs({ limit: 9 }), before);
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 2);
  });

  it('stops between two batches on abort, and releases its lease', async () => {
    for (let seed = 0; seed < 40; seed++) await house.putUnused(bytesOf(seed, 10));
    const controller = new AbortController();
    let deleted = 0;
    const blobs = {
      ...house.blobs,
      delete(key: BlobKey) {
        if (++deleted === 3) controller.abort();
        return house.blobs.delete(key);
      },
    };
    const options = { graceMs: 0, isForced: true };
    const run = collect({ ...house, blobs }, { ...options, signal: controller.signal });
    await assert.rejects(run, { name: 'AbortError' });
    assert.ok(deleted < 40, 'not all');
    assert.equal((await collect(house, options))?.deleted, 40 - deleted);
  });
});
