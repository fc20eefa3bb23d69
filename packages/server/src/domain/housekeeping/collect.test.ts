import assert from 'node:assert/strict';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import { addressOfBytes, bytesOf } from '../../../test/helpers/bytes.ts';
import { type House, openHouse } from '../../../test/helpers/housekeeping.ts';
import { createRecords, versionRecord } from '../../../test/helpers/records.ts';
import { collect } from './collect.ts';
import { takeLease } from './leases.ts';
import { blobLeaseMs, storeBlob, writeWithBlob } from './with-blob.ts';

const dayMs = 24 * 60 * 60 * 1000;

const nothing = {
  adopted: 0,
  newlyUnused: 0,
  deleted: 0,
  deletedBytes: 0,
  waiting: 0,
  waitingBytes: 0,
  unfinished: 0,
  isHeldByBackup: false,
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

  const isThere = async (address: ContentAddress) => (await house.blobs.size(address)) !== undefined;

  it('finds nothing to do where every blob is named', async () => {
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
    it(`deletes what ${what} leaves, once the grace is over`, async () => {
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

  it('keeps what another version names still', async () => {
    const { address, stage } = await published(1);
    const elsewhere = await createRecords(house.store).stage();
    await createRecords(house.store).version(elsewhere.key('same'), { contentAddress: address });
    await house.store.write((tx) => tx.deleteApp(stage.app.id));
    assert.deepEqual(await house.collect(), nothing);
    assert.ok(await isThere(address));
  });

  it('begins the grace anew for bytes that were published again meanwhile', async () => {
    const { address, stage } = await published(1);
    await house.store.write((tx) => tx.deletePlugin(stage.key('plugin-1')));
    await house.collect(dayMs);
    await published(1, stage);
    await house.store.write((tx) => tx.deletePlugin(stage.key('plugin-1')));
    house.advance(dayMs);
    assert.deepEqual(await house.collect(dayMs), { ...nothing, newlyUnused: 1, waiting: 1, waitingBytes: 1000 });
    assert.ok(await isThere(address));
  });

  it('leaves alone what is being stored, until that is certain to have come to nothing', async () => {
    const bytes = bytesOf(1, 1000);
    await storeBlob(house, addressOfBytes(bytes), bytes);
    house.advance(blobLeaseMs - 1);
    assert.deepEqual(await house.collect(), nothing);
    house.advance(1);
    assert.deepEqual(await house.collect(), { ...nothing, newlyUnused: 1, deleted: 1, deletedBytes: 1000 });
  });

  it('takes a file that nothing knows of for unused, and one that a version names for used', async () => {
    const orphan = await house.putUnknown(bytesOf(1, 300));
    const named = await house.putUnknown(bytesOf(2, 400));
    const { key } = await createRecords(house.store).stage();
    await createRecords(house.store).version(key('old'), { contentAddress: named, size: 400 });
    const found = await house.collect(dayMs);
    assert.deepEqual(found, { ...nothing, adopted: 2, newlyUnused: 1, waiting: 1, waitingBytes: 300 });
    house.advance(dayMs);
    assert.equal((await house.collect(dayMs))?.deleted, 1);
    assert.deepEqual([await isThere(orphan), await isThere(named)], [false, true]);
  });

  for (const state of ['unused', 'deleting'] as const) {
    it(`never deletes what a version names, though its row says ${state}`, async () => {
      const address = await house.putUnknown(bytesOf(1, 300));
      await house.collect(dayMs);
      if (state === 'deleting') {
        const nowMs = house.clock();
        await house.store.write((tx) => tx.condemnBlobs({ unusedSinceMs: nowMs, nowMs, limit: 1 }));
        assert.equal((await house.store.read.blob(address))?.state, 'deleting');
      }
      // A version that came without asking, as one that an older release makes in the same folder.
      const { key } = await createRecords(house.store).stage();
      await createRecords(house.store).version(key('old'), { contentAddress: address, size: 300 });
      house.advance(10 * dayMs);
      assert.equal((await house.collect(dayMs))?.deleted, 0);
      assert.ok(await isThere(address));
      assert.equal((await house.store.read.blob(address))?.state, 'present');
    });
  }

  it('finishes what an earlier run was kept from finishing, also when the file is gone already', async () => {
    const addresses = [await house.putUnknown(bytesOf(1, 300)), await house.putUnknown(bytesOf(2, 300))];
    await house.collect(dayMs);
    const nowMs = house.clock();
    await house.store.write((tx) => tx.condemnBlobs({ unusedSinceMs: nowMs, nowMs, limit: 9 }));
    await house.blobs.delete(addresses[0] as ContentAddress);
    assert.equal((await house.collect(dayMs))?.deleted, 2);
    assert.deepEqual(await Array.fromAsync(house.blobs.list()), []);
    assert.deepEqual(await house.store.read.blobs({ limit: 9 }), []);
  });

  it('deletes more than it looks at in one go', async () => {
    const many = 600;
    for (let seed = 0; seed < many; seed++) await house.putUnknown(bytesOf(seed, 10));
    const collected = await house.collect();
    assert.deepEqual([collected?.adopted, collected?.newlyUnused, collected?.deleted], [many, many, many]);
    assert.deepEqual(await Array.fromAsync(house.blobs.list()), []);
  });

  it('deletes nothing while a backup is made, and what it would have after', async () => {
    await house.putUnknown(bytesOf(1, 300));
    const backup = await takeLease(house, 'backup', { lengthMs: dayMs, isExclusive: false });
    const another = await takeLease(house, 'backup', { lengthMs: dayMs, isExclusive: false });
    const held = { ...nothing, adopted: 1, newlyUnused: 1, waiting: 1, waitingBytes: 300, isHeldByBackup: true };
    assert.deepEqual(await house.collect(), held);
    await backup?.release();
    assert.deepEqual((await house.collect())?.isHeldByBackup, true);
    await another?.release();
    assert.deepEqual(await house.collect(), { ...nothing, deleted: 1, deletedBytes: 300 });
  });

  it('is not kept from its work for good by a backup that was killed', async () => {
    await house.putUnknown(bytesOf(1, 300));
    await takeLease(house, 'backup', { lengthMs: dayMs, isExclusive: false });
    house.advance(dayMs);
    assert.equal((await house.collect())?.deleted, 1);
  });

  it('leaves the work to another process that is at it, until that has stopped for five minutes', async () => {
    const other = await house.again();
    const lease = await takeLease(other, 'collect', { lengthMs: 5 * 60_000, isExclusive: true });
    assert.equal(await house.collect(), undefined);
    house.advance(5 * 60_000);
    assert.deepEqual(await house.collect(), nothing);
    await lease?.release();
  });

  it('removes what was never stored to its end, an hour later', async () => {
    const path = join(house.dataDir, 'blobs', 'tmp', 'left');
    await writeFile(path, 'half');
    await utimes(path, new Date(house.clock()), new Date(house.clock()));
    house.advance(60 * 60_000);
    assert.equal((await house.collect())?.unfinished, 0);
    house.advance(1000);
    assert.equal((await house.collect())?.unfinished, 1);
    assert.deepEqual(await readdir(join(house.dataDir, 'blobs', 'tmp')), []);
  });

  it('changes nothing in a dry run, and tells what would be deleted', async () => {
    await house.putUnknown(bytesOf(1, 300));
    await house.collect(dayMs);
    await house.putUnknown(bytesOf(2, 400));
    const before = await house.store.read.blobs({ limit: 9 });
    const dry = () => collect(house, { graceMs: dayMs, isDryRun: true });
    assert.deepEqual(await dry(), { ...nothing, adopted: 1, waiting: 1, waitingBytes: 300 });
    house.advance(dayMs);
    assert.deepEqual(await dry(), { ...nothing, adopted: 1, deleted: 1, deletedBytes: 300 });
    assert.deepEqual(await house.store.read.blobs({ limit: 9 }), before);
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 2);
  });

  it('ends between two steps when it is told to, and gives its lease back', async () => {
    for (let seed = 0; seed < 40; seed++) await house.putUnknown(bytesOf(seed, 10));
    const controller = new AbortController();
    let deleted = 0;
    const blobs = {
      ...house.blobs,
      delete(address: ContentAddress) {
        if (++deleted === 3) controller.abort();
        return house.blobs.delete(address);
      },
    };
    const run = collect({ ...house, blobs }, { graceMs: 0, signal: controller.signal });
    await assert.rejects(run, { name: 'AbortError' });
    assert.ok(deleted < 40, 'not all');
    assert.equal((await house.collect())?.deleted, 40 - deleted);
  });
});
