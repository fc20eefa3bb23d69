import assert from 'node:assert/strict';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import { addressOfBytes, bytesOf } from '../../test/helpers/bytes.ts';
import { createRecords, versionRecord } from '../../test/helpers/records.ts';
import { openStoreFixture, type StoreFixture } from '../../test/helpers/store-fixture.ts';
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
  let fixture: StoreFixture;
  beforeEach(async () => {
    fixture = await openStoreFixture();
  });
  afterEach(() => fixture.close());

  type Staged = Awaited<ReturnType<ReturnType<typeof createRecords>['stage']>>;

  /** Publishes 1,000 bytes as some plugin, so long ago that the lease has ended. */
  async function published(seed: number, stage?: Staged): Promise<{ address: ContentAddress; stage: Staged }> {
    const at = stage ?? (await createRecords(fixture.store).stage());
    const bytes = bytesOf(seed, 1000);
    const address = addressOfBytes(bytes);
    await writeWithBlob(fixture, address, bytes, (tx) =>
      tx.insertVersion(versionRecord(at.key(`plugin-${seed}`), { contentAddress: address, size: 1000 })),
    );
    fixture.advance(blobLeaseMs);
    return { address, stage: at };
  }

  const isThere = async (address: ContentAddress) => (await fixture.sizeOf(address)) !== undefined;

  it('does nothing if every blob is referenced', async () => {
    const { address } = await published(1);
    assert.deepEqual(await fixture.collect(), nothing);
    assert.ok(await isThere(address));
  });

  const leavers: readonly [string, (stage: Staged) => Promise<void>][] = [
    ['a plugin', ({ key }) => fixture.store.write((tx) => tx.deletePlugin(key('plugin-1')))],
    [
      'an extension point',
      ({ extensionPoint }) => fixture.store.write((tx) => tx.deleteExtensionPoint(extensionPoint.id)),
    ],
    ['an application', ({ app }) => fixture.store.write((tx) => tx.deleteApp(app.id))],
    [
      'an account',
      ({ publisher }) => fixture.store.write((tx) => tx.eraseUser(publisher.id, { name: 'gone', deletedAtMs: 1 })),
    ],
  ];
  for (const [what, leave] of leavers) {
    it(`deletes what ${what} leaves, after the grace period`, async () => {
      const { address, stage } = await published(1);
      await leave(stage);
      const waiting = { waiting: 1, waitingBytes: 1000 };
      assert.deepEqual(await fixture.collect(dayMs), { ...nothing, newlyUnused: 1, ...waiting });
      fixture.advance(dayMs - 1);
      assert.deepEqual(await fixture.collect(dayMs), { ...nothing, ...waiting });
      assert.ok(await isThere(address));
      fixture.advance(1);
      assert.deepEqual(await fixture.collect(dayMs), { ...nothing, deleted: 1, deletedBytes: 1000 });
      assert.equal(await isThere(address), false);
      assert.equal(await fixture.store.read.blob(address), undefined);
      assert.deepEqual(await fixture.collect(dayMs), nothing);
    });
  }

  it('keeps a blob that another version references', async () => {
    const { address, stage } = await published(1);
    const elsewhere = await createRecords(fixture.store).stage();
    await createRecords(fixture.store).version(elsewhere.key('same'), { contentAddress: address });
    await fixture.store.write((tx) => tx.deleteApp(stage.app.id));
    assert.deepEqual(await fixture.collect(), nothing);
    assert.ok(await isThere(address));
  });

  it('restarts the grace period of bytes that were published again', async () => {
    const { address, stage } = await published(1);
    await fixture.store.write((tx) => tx.deletePlugin(stage.key('plugin-1')));
    await fixture.collect(dayMs);
    await published(1, stage);
    await fixture.store.write((tx) => tx.deletePlugin(stage.key('plugin-1')));
    fixture.advance(dayMs);
    assert.deepEqual(await fixture.collect(dayMs), { ...nothing, newlyUnused: 1, waiting: 1, waitingBytes: 1000 });
    assert.ok(await isThere(address));
  });

  it('keeps a blob that is being stored until its lease expires', async () => {
    const bytes = bytesOf(1, 1000);
    await storeBlob(fixture, addressOfBytes(bytes), bytes);
    fixture.advance(blobLeaseMs - 1);
    assert.deepEqual(await fixture.collect(), nothing);
    fixture.advance(1);
    assert.deepEqual(await fixture.collect(), { ...nothing, newlyUnused: 1, deleted: 1, deletedBytes: 1000 });
  });

  it('keeps objects without a row unless it is forced', async () => {
    const { address } = await published(1);
    await fixture.putUnknown(bytesOf(2, 300));
    fixture.advance(10 * dayMs);
    assert.deepEqual(await fixture.collect(), { ...nothing, unknown: 1 });
    const forced = (isDryRun: boolean) => collect(fixture, { graceMs: dayMs, isForced: true, isDryRun });
    assert.deepEqual(await forced(true), { ...nothing, deleted: 1 });
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, 2);
    assert.deepEqual(await forced(false), { ...nothing, deleted: 1, deletedBytes: 300 });
    assert.deepEqual(await Array.fromAsync(fixture.blobs.list()), [await fixture.keyOf(address)]);
  });

  it('deletes nothing if the database is empty, even if it is forced', async () => {
    await fixture.putUnknown(bytesOf(1, 300));
    for (const isForced of [false, true]) {
      await assert.rejects(collect(fixture, { graceMs: 0, isForced }), { name: 'UnknownBlobsError' });
    }
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, 1);
  });

  it('deletes at most half of all blobs unless it is forced', async () => {
    const { stage } = await published(0);
    for (let seed = 1; seed < 25; seed++) await published(seed, stage);
    const drop = async (seed: number) => fixture.store.write((tx) => tx.deletePlugin(stage.key(`plugin-${seed}`)));
    for (let seed = 0; seed < 13; seed++) await drop(seed);
    const found = await fixture.collect();
    assert.deepEqual([found?.newlyUnused, found?.postponed, found?.deleted, found?.waiting], [13, 13, 0, 13]);
    const dry = await collect(fixture, { graceMs: 0, isDryRun: true });
    assert.deepEqual([dry?.postponed, dry?.deleted], [13, 0]);
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, 25);
    assert.equal((await collect(fixture, { graceMs: 0, isForced: true }))?.deleted, 13);
    for (let seed = 13; seed < 19; seed++) await drop(seed);
    assert.equal((await fixture.collect())?.deleted, 6, 'half of twelve');
  });

  it('finishes an interrupted run, even if the object is already deleted', async () => {
    for (const seed of [1, 2]) await fixture.putUnused(bytesOf(seed, 300));
    await fixture.collect(dayMs);
    const nowMs = fixture.clock();
    await fixture.store.writeLocking((tx) => tx.markForDeletion({ unusedSinceMs: nowMs, nowMs, limit: 9 }));
    const [first] = await Array.fromAsync(fixture.blobs.list());
    await fixture.blobs.delete(first as BlobKey);
    assert.equal((await fixture.collect(dayMs))?.deleted, 2);
    assert.deepEqual(await Array.fromAsync(fixture.blobs.list()), []);
    assert.deepEqual(await fixture.store.read.blobs({ limit: 9 }), []);
    assert.deepEqual(await fixture.store.read.blobDeletions(9), []);
  });

  it('accepts a database whose blobs are all deleted during the listing', async () => {
    for (const isFinished of [false, true]) {
      const blobs = {
        ...fixture.blobs,
        async *list() {
          await fixture.putUnused(bytesOf(1, 300)); // a publish, after the database was found without blobs
          yield* fixture.blobs.list();
          await fixture.collect(isFinished ? 0 : dayMs);
          if (isFinished) return;
          const nowMs = fixture.clock();
          await fixture.store.writeLocking((tx) => tx.markForDeletion({ unusedSinceMs: nowMs, nowMs, limit: 9 }));
        },
      };
      await assertBlobsKnown({ ...fixture, blobs });
      await fixture.collect();
    }
  });

  it('deletes more than one batch', async () => {
    const many = 600;
    const blobs = Array.from({ length: many }, (_, seed) => {
      const bytes = bytesOf(seed, 10);
      return {
        bytes,
        held: { address: addressOfBytes(bytes), size: 10, generation: newGeneration(fixture.random), leaseUntilMs: 0 },
      };
    });
    await Promise.all(blobs.map(({ bytes, held }) => fixture.blobs.put(blobKey(held), bytes)));
    await fixture.store.write(async (tx) => {
      for (const { held } of blobs) await tx.leaseBlob(held);
    });
    const collected = await collect(fixture, { graceMs: 0, isForced: true });
    assert.deepEqual([collected?.newlyUnused, collected?.deleted], [many, many]);
    assert.deepEqual(await Array.fromAsync(fixture.blobs.list()), []);
  });

  it('deletes nothing while the store is copied, and what it would have after', async () => {
    await fixture.putUnused(bytesOf(1, 300));
    const copy = await takeLease(fixture, 'copy', { lengthMs: dayMs, isExclusive: false });
    const another = await takeLease(fixture, 'copy', { lengthMs: dayMs, isExclusive: false });
    const held = { ...nothing, newlyUnused: 1, waiting: 1, waitingBytes: 300, isHeldByCopy: true };
    assert.deepEqual(await fixture.collect(), held);
    await copy?.release();
    assert.deepEqual((await fixture.collect())?.isHeldByCopy, true);
    await another?.release();
    assert.deepEqual(await fixture.collect(), { ...nothing, deleted: 1, deletedBytes: 300 });
  });

  it('continues after the lease of a killed copy has expired', async () => {
    await fixture.putUnused(bytesOf(1, 300));
    await takeLease(fixture, 'copy', { lengthMs: dayMs, isExclusive: false });
    fixture.advance(dayMs);
    assert.equal((await fixture.collect())?.deleted, 1);
  });

  it('does nothing while another process holds the lease', async () => {
    const other = await fixture.again();
    const lease = await takeLease(other, 'collect', { lengthMs: 5 * 60_000, isExclusive: true });
    assert.equal(await fixture.collect(), undefined);
    fixture.advance(5 * 60_000);
    assert.deepEqual(await fixture.collect(), nothing);
    await lease?.release();
  });

  it('deletes incomplete uploads after an hour', async () => {
    const path = join(fixture.dataDir, 'blobs', 'tmp', 'left');
    await writeFile(path, 'half');
    await utimes(path, new Date(fixture.clock()), new Date(fixture.clock()));
    fixture.advance(60 * 60_000);
    assert.equal((await fixture.collect())?.unfinished, 0);
    fixture.advance(1000);
    assert.equal((await fixture.collect())?.unfinished, 1);
    assert.deepEqual(await readdir(join(fixture.dataDir, 'blobs', 'tmp')), []);
  });

  it('changes nothing in a dry run, and returns what would be deleted', async () => {
    await fixture.putUnused(bytesOf(1, 300));
    await fixture.collect(dayMs);
    await fixture.putUnused(bytesOf(2, 400));
    const before = await fixture.store.read.blobs({ limit: 9 });
    const dry = () => collect(fixture, { graceMs: dayMs, isDryRun: true });
    assert.deepEqual(await dry(), { ...nothing, newlyUnused: 1, waiting: 2, waitingBytes: 700 });
    fixture.advance(dayMs);
    const due = { deleted: 1, deletedBytes: 300, waiting: 1, waitingBytes: 400 };
    assert.deepEqual(await dry(), { ...nothing, newlyUnused: 1, ...due });
    assert.deepEqual(await fixture.store.read.blobs({ limit: 9 }), before);
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, 2);
  });

  it('stops between two batches on abort, and releases its lease', async () => {
    for (let seed = 0; seed < 40; seed++) await fixture.putUnused(bytesOf(seed, 10));
    const controller = new AbortController();
    let deleted = 0;
    const blobs = {
      ...fixture.blobs,
      delete(key: BlobKey) {
        if (++deleted === 3) controller.abort();
        return fixture.blobs.delete(key);
      },
    };
    const options = { graceMs: 0, isForced: true };
    const run = collect({ ...fixture, blobs }, { ...options, signal: controller.signal });
    await assert.rejects(run, { name: 'AbortError' });
    assert.ok(deleted < 40, 'not all');
    assert.equal((await collect(fixture, options))?.deleted, 40 - deleted);
  });
});
