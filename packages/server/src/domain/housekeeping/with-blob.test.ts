import assert from 'node:assert/strict';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressOfBytes, bytesOf, collect as collectBytes, demandSameBytes } from '../../../test/helpers/bytes.ts';
import { type House, openHouse } from '../../../test/helpers/housekeeping.ts';
import { createRecords, versionRecord } from '../../../test/helpers/records.ts';
import { blobPath } from '../../blobs/fs/paths.ts';
import type { BlobStore } from '../ports.ts';
import { UnavailableError } from '../ports.ts';
import { collect } from './collect.ts';
import { blobLeaseMs, storeBlob, writeWithBlob } from './with-blob.ts';

const bytes = bytesOf(1, 5000);
const address = addressOfBytes(bytes);
const afterLeaseMs = blobLeaseMs + 1;

describe('writeWithBlob()', () => {
  let house: House;
  let other: House;
  beforeEach(async () => {
    house = await openHouse();
    other = await house.again();
    other.advance(afterLeaseMs); // its collector takes the lease of every publish for ended
  });
  afterEach(() => house.close());

  /** Makes a version that names the bytes, as a publish does. */
  async function publish(parts: Pick<House, 'store' | 'blobs' | 'clock' | 'random'>): Promise<void> {
    const { key } = await createRecords(house.store).stage();
    await writeWithBlob(parts, address, bytes, async (tx) => {
      // The bytes are there before anything says so, not made good afterwards.
      assert.equal(await house.blobs.size(address), bytes.length, 'the bytes are there before the version');
      await tx.insertVersion(versionRecord(key('plugin'), { contentAddress: address }));
    });
  }

  async function demandThere(): Promise<void> {
    demandSameBytes(await collectBytes(await house.blobs.open(address)), bytes);
    assert.equal((await house.store.read.blob(address))?.state, 'present');
    await other.collect();
    assert.equal(await house.blobs.size(address), bytes.length, 'and stay');
  }

  /** The same parts, with something that happens right after the bytes were put. */
  function afterPut(happens: (time: number) => Promise<unknown>) {
    let puts = 0;
    const blobs: BlobStore = {
      ...house.blobs,
      async put(...args) {
        await house.blobs.put(...args);
        await happens(++puts);
      },
    };
    return { parts: { ...house, blobs }, puts: () => puts };
  }

  it('stores the bytes, and makes what names them', async () => {
    await publish(house);
    await demandThere();
    assert.equal(await house.store.read.isContentNamed(address), true);
  });

  it('lets nobody delete the bytes while its lease lasts', async () => {
    const { parts, puts } = afterPut(() => house.collect());
    await publish(parts);
    assert.equal(puts(), 1);
    await demandThere();
  });

  it('begins anew when the bytes were deleted before the version was made', async () => {
    const { parts, puts } = afterPut(async (time) => {
      if (time === 1) assert.equal((await other.collect())?.deleted, 1);
    });
    await publish(parts);
    assert.equal(puts(), 2);
    await demandThere();
  });

  it('begins anew when they were deleted, and another publish has taken their row since', async () => {
    const { parts, puts } = afterPut(async (time) => {
      if (time !== 1) return;
      await deleteAndDie();
      const fresh = { address, size: bytes.length, epoch: 'of another', leaseUntilMs: 0 };
      assert.equal(await other.store.write((tx) => tx.holdBlob(fresh)), 'of another');
    });
    await publish(parts);
    assert.equal(puts(), 2);
    await demandThere();
  });

  it('begins anew when they are being deleted', async () => {
    const { parts, puts } = afterPut(async (time) => {
      if (time === 1) await deleteAndDie();
    });
    await publish(parts);
    assert.equal(puts(), 2);
    await demandThere();
  });

  it('waits for a deletion that is at work on the file, however long that stands still', async () => {
    await storeBlob(house, address, bytes);
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const blobs: BlobStore = {
      ...other.blobs,
      async delete(deleted) {
        reached.resolve();
        await goOn.promise;
        return other.blobs.delete(deleted);
      },
    };
    const collecting = collect({ ...other, blobs }, { graceMs: 0 });
    await reached.promise;
    const publishing = writeWithBlob(house, address, bytes, async () => {});
    await sleep(50); // long enough to be done, if nothing held it up
    goOn.resolve();
    assert.equal((await collecting)?.deleted, 1);
    await publishing;
    demandSameBytes(await collectBytes(await house.blobs.open(address)), bytes);
  });

  it('takes back what was to be deleted next', async () => {
    await storeBlob(house, address, bytes);
    const store: House['store'] = {
      ...other.store,
      async write(work) {
        const result = await other.store.write(work);
        if ((await house.store.read.blob(address))?.state === 'deleting') await publish(house);
        return result;
      },
    };
    assert.equal((await collect({ ...other, store }, { graceMs: 0 }))?.deleted, 0);
    await demandThere();
  });

  it('gives up when the bytes are deleted every time, and makes nothing', async () => {
    const { parts, puts } = afterPut(() => other.collect());
    await assert.rejects(publish(parts), UnavailableError);
    assert.equal(puts(), 5);
    assert.equal(await house.store.read.isContentNamed(address), false);
  });

  it('leaves bytes to the collector when the work throws', async () => {
    const work = writeWithBlob(house, address, bytes, () => Promise.reject(new Error('refused')));
    await assert.rejects(work, /refused/);
    assert.equal((await house.store.read.blob(address))?.state, 'pending');
    assert.equal((await other.collect())?.deleted, 1);
    assert.equal(await house.blobs.size(address), undefined);
    assert.equal(await house.store.read.blob(address), undefined);
  });

  it('puts the bytes once more when a foreign hand took the file meanwhile', async () => {
    const path = join(house.dataDir, 'blobs', blobPath(address) ?? '');
    await writeWithBlob(house, address, bytes, () => unlink(path));
    demandSameBytes(await collectBytes(await house.blobs.open(address)), bytes);
  });

  /** A collector that is killed right after it has deleted the file, before it could say so. */
  async function deleteAndDie(): Promise<void> {
    const blobs: BlobStore = {
      ...other.blobs,
      async delete(deleted) {
        await other.blobs.delete(deleted);
        throw new Error('killed');
      },
    };
    await assert.rejects(collect({ ...other, blobs }, { graceMs: 0 }), /killed/);
    assert.equal(await house.blobs.size(address), undefined);
    assert.equal((await house.store.read.blob(address))?.state, 'deleting');
  }
});
