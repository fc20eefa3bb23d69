import assert from 'node:assert/strict';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { addressOfBytes, assertSameBytes, bytesOf, collect as collectBytes } from '../../test/helpers/bytes.ts';
import { createRecords, versionRecord } from '../../test/helpers/records.ts';
import { openStoreFixture, type StoreFixture } from '../../test/helpers/store-fixture.ts';
import { type BlobKey, blobKey } from '../db/blob-key.ts';
import type { BlobRecord } from '../db/blob-records.ts';
import { UnavailableError } from '../db/store.ts';
import type { BlobStore } from './blob-store.ts';
import { collect } from './collect.ts';
import { blobPath } from './folder/paths.ts';
import { blobLeaseMs, storeBlob, writeWithBlob } from './with-blob.ts';

const bytes = bytesOf(1, 5000);
const address = addressOfBytes(bytes);
const afterLeaseMs = blobLeaseMs + 1;

describe('writeWithBlob()', () => {
  let fixture: StoreFixture;
  let other: StoreFixture;
  beforeEach(async () => {
    fixture = await openStoreFixture();
    other = await fixture.again();
    other.advance(afterLeaseMs); // its collector takes the lease of every publish for ended
  });
  afterEach(() => fixture.close());

  /** Makes a version that names the bytes, as a publish does. */
  async function publish(parts: Pick<StoreFixture, 'store' | 'blobs' | 'clock' | 'random'>): Promise<void> {
    const { key } = await createRecords(fixture.store).stage();
    await writeWithBlob(parts, address, bytes, async (tx) => {
      // The bytes are there before anything says so, not made good afterwards.
      assert.equal(await fixture.sizeOf(address), bytes.length, 'the bytes are there before the version');
      await tx.insertVersion(versionRecord(key('plugin'), { contentAddress: address }));
    });
  }

  async function requireObject(): Promise<void> {
    assertSameBytes(await collectBytes(await fixture.open(address)), bytes);
    assert.equal((await fixture.store.read.blob(address))?.state, 'present');
    await other.collect();
    assert.equal(await fixture.sizeOf(address), bytes.length, 'and stay');
  }

  /** The same parts, with something that happens right after the bytes were put. */
  function afterPut(happens: (time: number) => Promise<unknown>) {
    let puts = 0;
    const blobs: BlobStore = {
      ...fixture.blobs,
      async put(...args) {
        await fixture.blobs.put(...args);
        await happens(++puts);
      },
    };
    return { parts: { ...fixture, blobs }, puts: () => puts };
  }

  it('stores the bytes and the version', async () => {
    await publish(fixture);
    await requireObject();
    assert.equal(await fixture.store.read.isContentReferenced(address), true);
  });

  it('prevents deletion of the bytes during the lease', async () => {
    const { parts, puts } = afterPut(() => fixture.collect());
    await publish(parts);
    assert.equal(puts(), 1);
    await requireObject();
  });

  it('starts again if the bytes are deleted before the version is inserted', async () => {
    const { parts, puts } = afterPut(async (time) => {
      if (time === 1) assert.equal((await other.collect())?.deleted, 1);
    });
    await publish(parts);
    assert.equal(puts(), 2);
    await requireObject();
  });

  it('starts again if they are deleted and another publish has inserted a row', async () => {
    const { parts, puts } = afterPut(async (time) => {
      if (time !== 1) return;
      await deleteAndDie();
      const fresh = { address, size: bytes.length, generation: 'c0ffee'.repeat(4), leaseUntilMs: 0 };
      assert.equal(await other.store.write((tx) => tx.leaseBlob(fresh)), fresh.generation);
    });
    await publish(parts);
    assert.equal(puts(), 2);
    await requireObject();
  });

  it('starts again if they are marked for deletion', async () => {
    const { parts, puts } = afterPut(async (time) => {
      if (time === 1) await deleteAndDie();
    });
    await publish(parts);
    assert.equal(puts(), 2);
    await requireObject();
  });

  it('loses nothing to late or repeated deletions', async () => {
    await storeBlob(fixture, address, bytes);
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
    await publish(fixture);
    for (const key of [...deletions, ...deletions]) await fixture.blobs.delete(key);
    await requireObject();
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, 1, 'and no object is left behind');
  });

  it('does not wait for a stalled deletion', async () => {
    await storeBlob(fixture, address, bytes);
    const [reached, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const blobs: BlobStore = {
      ...other.blobs,
      async delete(key) {
        reached.resolve();
        await proceed.promise;
        return other.blobs.delete(key);
      },
    };
    const collecting = collect({ ...other, blobs }, { graceMs: 0 });
    await reached.promise;
    await publish(fixture);
    proceed.resolve();
    assert.equal((await collecting)?.deleted, 1);
    await requireObject();
  });

  it('leaves no object that was stored after its deletion', async () => {
    const { parts } = afterPut(async (time) => {
      if (time !== 1) return;
      const [late] = await Array.fromAsync(fixture.blobs.list());
      assert.equal((await other.collect())?.deleted, 1);
      await fixture.blobs.put(late as BlobKey, bytes);
    });
    await publish(parts);
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, 2);
    await requireObject();
    assert.equal((await Array.fromAsync(fixture.blobs.list())).length, 1);
  });

  it('fails if the bytes are deleted during every attempt', async () => {
    const { parts, puts } = afterPut(() => other.collect());
    await assert.rejects(publish(parts), UnavailableError);
    assert.equal(puts(), 5);
    assert.equal(await fixture.store.read.isContentReferenced(address), false);
  });

  it('leaves the bytes to the garbage collector if the work throws', async () => {
    const work = writeWithBlob(fixture, address, bytes, () => Promise.reject(new Error('refused')));
    await assert.rejects(work, /refused/);
    assert.equal((await fixture.store.read.blob(address))?.state, 'pending');
    assert.equal((await other.collect())?.deleted, 1);
    assert.equal(await fixture.sizeOf(address), undefined);
    assert.equal(await fixture.store.read.blob(address), undefined);
  });

  it('stores the bytes again if another program deleted the file', async () => {
    await writeWithBlob(fixture, address, bytes, async (tx) => {
      const row = await tx.blob(address);
      await unlink(join(fixture.dataDir, 'blobs', blobPath(blobKey(row as BlobRecord)) ?? ''));
    });
    assertSameBytes(await collectBytes(await fixture.open(address)), bytes);
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
    assert.deepEqual(await Array.fromAsync(fixture.blobs.list()), []);
    assert.equal((await fixture.store.read.blobDeletions(9)).length, 1);
  }
});
