import assert from 'node:assert/strict';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { addressOfBytes, bytesOf, collect as collectBytes, demandSameBytes } from '../../../test/helpers/bytes.ts';
import { type House, openHouse } from '../../../test/helpers/housekeeping.ts';
import { createRecords, versionRecord } from '../../../test/helpers/records.ts';
import { blobPath } from '../../blobs/fs/paths.ts';
import type { BlobStore } from '../ports.ts';
import { UnavailableError } from '../ports.ts';
import { type BlobKey, blobKey } from './blob-key.ts';
import { collect } from './collect.ts';
import type { BlobRecord } from './ports.ts';
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
      assert.equal(await house.sizeOf(address), bytes.length, 'the bytes are there before the version');
      await tx.insertVersion(versionRecord(key('plugin'), { contentAddress: address }));
    });
  }

  async function demandThere(): Promise<void> {
    demandSameBytes(await collectBytes(await house.open(address)), bytes);
    assert.equal((await house.store.read.blob(address))?.state, 'present');
    await other.collect();
    assert.equal(await house.sizeOf(address), bytes.length, 'and stay');
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

  it('begins anew when they were deleted, and another publish has made a row since', async () => {
    const { parts, puts } = afterPut(async (time) => {
      if (time !== 1) return;
      await deleteAndDie();
      const fresh = { address, size: bytes.length, generation: 'c0ffee'.repeat(4), leaseUntilMs: 0 };
      assert.equal(await other.store.write((tx) => tx.holdBlob(fresh)), fresh.generation);
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

  it('loses nothing to a deletion that arrives once it is done, however late and however often', async () => {
    await storeBlob(house, address, bytes);
    const deletions: BlobKey[] = [];
    const blobs: BlobStore = {
      ...other.blobs,
      async delete(key) {
        deletions.push(key);
        throw new Error('the connection was lost');
      },
    };
    await assert.rejects(collect({ ...other, blobs }, { graceMs: 0 }), /connection was lost/);
    assert.equal(deletions.length, 1);
    await publish(house);
    for (const key of [...deletions, ...deletions]) await house.blobs.delete(key);
    await demandThere();
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 1, 'and no object is left behind');
  });

  it('waits for no deletion, however long that stands still', async () => {
    await storeBlob(house, address, bytes);
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const blobs: BlobStore = {
      ...other.blobs,
      async delete(key) {
        reached.resolve();
        await goOn.promise;
        return other.blobs.delete(key);
      },
    };
    const collecting = collect({ ...other, blobs }, { graceMs: 0 });
    await reached.promise;
    await publish(house);
    goOn.resolve();
    assert.equal((await collecting)?.deleted, 1);
    await demandThere();
  });

  it('leaves no object behind whose bytes arrived after their deletion', async () => {
    const { parts } = afterPut(async (time) => {
      if (time !== 1) return;
      const [late] = await Array.fromAsync(house.blobs.list());
      assert.equal((await other.collect())?.deleted, 1);
      await house.blobs.put(late as BlobKey, bytes);
    });
    await publish(parts);
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 2);
    await demandThere();
    assert.equal((await Array.fromAsync(house.blobs.list())).length, 1);
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
    assert.equal(await house.sizeOf(address), undefined);
    assert.equal(await house.store.read.blob(address), undefined);
  });

  it('puts the bytes once more when a foreign hand took the file meanwhile', async () => {
    await writeWithBlob(house, address, bytes, async (tx) => {
      const row = await tx.blob(address);
      await unlink(join(house.dataDir, 'blobs', blobPath(blobKey(row as BlobRecord)) ?? ''));
    });
    demandSameBytes(await collectBytes(await house.open(address)), bytes);
  });

  /** A collector that is killed right after it has deleted the file, before it could say so. */
  async function deleteAndDie(): Promise<void> {
    const blobs: BlobStore = {
      ...other.blobs,
      async delete(key) {
        await other.blobs.delete(key);
        throw new Error('killed');
      },
    };
    await assert.rejects(collect({ ...other, blobs }, { graceMs: 0 }), /killed/);
    assert.deepEqual(await Array.fromAsync(house.blobs.list()), []);
    assert.equal((await house.store.read.blobDeletions(9)).length, 1);
  }
});
