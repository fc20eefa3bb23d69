import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blobKey } from '../../../src/db/blob-key.ts';
import type { BlobRecord } from '../../../src/db/blob-records.ts';
import { addressOf, createRecords, someTimeMs, versionRecord } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** Rows for bytes, and leases. */
export function maintenanceContract(backend: Backend): void {
  describe('blobs', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    let made = 0;
    const someAddress = () => addressOf(`bytes ${made++}`);
    const hold = (fields: Partial<BlobRecord> & Pick<BlobRecord, 'address'>) =>
      store.it.write((tx) => tx.leaseBlob({ size: 8, generation: 'first', leaseUntilMs: someTimeMs + 10, ...fields }));
    const keep = (address: BlobRecord['address'], generation: string) =>
      store.it.write((tx) => tx.markPresent(address, generation));
    const note = (addresses: BlobRecord['address'][], nowMs: number, options?: { readonly restartsGrace: boolean }) =>
      store.it.writeLocking((tx) => tx.markUnused(addresses, nowMs, options));
    const mark = (unusedSinceMs: number, nowMs = someTimeMs + 100, limit = 100) =>
      store.it.writeLocking((tx) => tx.markForDeletion({ unusedSinceMs, nowMs, limit }));
    const row = (address: BlobRecord['address']) => store.it.read.blob(address);

    it('are pending when they are leased first, and present when a version references them', async () => {
      const address = someAddress();
      assert.equal(await row(address), undefined);
      assert.equal(await hold({ address, size: 67_108_864 }), 'first');
      const pending = {
        address,
        size: 67_108_864,
        state: 'pending',
        generation: 'first',
        leaseUntilMs: someTimeMs + 10,
        unusedSinceMs: null,
      };
      assert.deepEqual(await row(address), pending);
      assert.equal(await keep(address, 'another'), false);
      assert.deepEqual(await row(address), pending);
      assert.equal(await keep(address, 'first'), true);
      assert.deepEqual(await row(address), { ...pending, state: 'present' });
      assert.equal(await keep(address, 'first'), true);
      assert.equal(await keep(someAddress(), 'first'), false);
    });

    it('keep their generation, and the longest lease', async () => {
      const address = someAddress();
      await hold({ address });
      assert.equal(await hold({ address, generation: 'second', leaseUntilMs: someTimeMs + 20 }), 'first');
      assert.equal(await hold({ address, generation: 'third', leaseUntilMs: someTimeMs }), 'first');
      assert.equal((await row(address))?.leaseUntilMs, someTimeMs + 20);
    });

    it('count as unused after their lease, unless a version references them', async () => {
      const { key } = await records().stage();
      const [held, named, unused] = [someAddress(), someAddress(), someAddress()];
      await hold({ address: held });
      await hold({ address: named, leaseUntilMs: 0 });
      await hold({ address: unused, leaseUntilMs: 0 });
      await records().version(key('named'), { contentAddress: named });
      const all = [held, named, unused, someAddress()];
      assert.equal(await note(all, someTimeMs + 9), 1);
      assert.equal(await note(all, someTimeMs + 10), 1, 'the lease has ended');
      assert.equal(await note(all, someTimeMs + 11), 0);
      assert.equal((await row(unused))?.unusedSinceMs, someTimeMs + 9);
      assert.equal((await row(held))?.unusedSinceMs, someTimeMs + 10);
      assert.equal((await row(named))?.unusedSinceMs, null);
      assert.equal(await note([], someTimeMs), 0);
      const found = (await store.it.read.blobs({ limit: 1000 })).filter((blob) => all.includes(blob.address));
      assert.deepEqual(new Map(found.map((blob) => [blob.address, blob.isReferenced])).get(named), true);
      assert.equal(found.filter((blob) => blob.isReferenced).length, 1);
      await mark(someTimeMs + 10);
    });

    it('restart their grace period on request, unless a version references them', async () => {
      const { key } = await records().stage();
      const [named, unused] = [someAddress(), someAddress()];
      for (const address of [named, unused]) await hold({ address, leaseUntilMs: 0 });
      await note([named, unused], someTimeMs);
      await records().version(key('named'), { contentAddress: named });
      assert.equal(await note([named, unused], someTimeMs + 50, { restartsGrace: true }), 1);
      assert.equal((await row(unused))?.unusedSinceMs, someTimeMs + 50);
      assert.deepEqual(await mark(someTimeMs + 49), []);
      await mark(someTimeMs + 50);
    });

    it('are marked for deletion once, after their grace period, and get another generation when they are stored again', async () => {
      const address = someAddress();
      await hold({ address, leaseUntilMs: 0 });
      await note([address], someTimeMs);
      assert.deepEqual(await mark(someTimeMs - 1), []);
      const due = { unusedSinceMs: someTimeMs, nowMs: someTimeMs + 100 };
      const before = await store.it.read.countDueBlobs(due);
      const deletion = { address, generation: 'first', size: 8 };
      assert.deepEqual(await mark(someTimeMs), [deletion]);
      assert.deepEqual(await mark(someTimeMs), []);
      assert.equal(await store.it.read.countDueBlobs(due), before - 1);
      assert.ok((await store.it.read.blobDeletions(1000)).some((found) => found.address === address));
      assert.equal(await keep(address, 'first'), false, 'too late');
      assert.equal(await row(address), undefined);

      assert.equal(await hold({ address, generation: 'second', size: 9 }), 'second', 'before the object is deleted');
      assert.equal(await keep(address, 'first'), false);
      assert.equal(await keep(address, 'second'), true);
      const ids = [deletion, { address, generation: 'second' }, { address, generation: 'third' }];
      assert.deepEqual(await store.it.read.knownBlobs(ids), ids.slice(0, 2).map(blobKey));
      await store.it.writeLocking((tx) => tx.deleteBlobDeletions([deletion]));
      assert.deepEqual(await store.it.read.knownBlobs(ids), ids.slice(1, 2).map(blobKey));
      assert.deepEqual(await store.it.read.knownBlobs([]), []);
      assert.equal((await row(address))?.generation, 'second');
    });

    it('may be marked for deletion once more after they arrived late', async () => {
      const address = someAddress();
      for (const size of [5, 6])
        await store.it.write((tx) => tx.putBlobDeletion({ address, generation: 'late', size }));
      const found = (await store.it.read.blobDeletions(1000)).filter((deletion) => deletion.address === address);
      assert.deepEqual(found, [{ address, generation: 'late', size: 5 }]);
      await store.it.writeLocking((tx) => tx.deleteBlobDeletions(found));
    });

    it('are not marked for deletion while they are leased again', async () => {
      const address = someAddress();
      await hold({ address, leaseUntilMs: 0 });
      await note([address], someTimeMs);
      await hold({ address, leaseUntilMs: someTimeMs + 50 });
      assert.deepEqual(await mark(someTimeMs, someTimeMs + 49), []);
      assert.equal((await mark(someTimeMs, someTimeMs + 50)).length, 1);
    });

    it('are not marked for deletion while a version references them, independent of their rows', async () => {
      const { key } = await records().stage();
      const noted = someAddress();
      await hold({ address: noted, leaseUntilMs: 0 });
      await note([noted], someTimeMs);
      await records().version(key('noted'), { contentAddress: noted });
      assert.deepEqual(await mark(someTimeMs), []);
      assert.equal((await row(noted))?.generation, 'first');
      assert.equal(await store.it.read.isContentReferenced(noted), true);
      assert.equal(await store.it.read.isContentReferenced(someAddress()), false);
    });

    it('are marked for deletion a few at a time', async () => {
      const addresses = [someAddress(), someAddress(), someAddress()];
      for (const address of addresses) await hold({ address, leaseUntilMs: 0 });
      await note(addresses, someTimeMs);
      assert.equal((await mark(someTimeMs, someTimeMs, 2)).length, 2);
      assert.equal((await mark(someTimeMs, someTimeMs, 2)).length, 1);
    });

    it('are locked by a publish that is about to reference them', async () => {
      const { key } = await records().stage();
      const address = someAddress();
      await hold({ address, leaseUntilMs: 0 });
      await note([address], someTimeMs);
      const { promise: isKept, resolve: kept } = Promise.withResolvers<void>();
      const { promise: proceed, resolve } = Promise.withResolvers<void>();
      const publishing = store.it.write(async (tx) => {
        assert.equal(await tx.markPresent(address, 'first'), true);
        kept();
        await proceed;
        await tx.insertVersion(versionRecord(key('named'), { contentAddress: address }));
      });
      await isKept;
      const marking = mark(someTimeMs);
      setTimeout(resolve, 50);
      assert.deepEqual(await marking, []);
      await publishing;
      assert.equal((await row(address))?.state, 'present');
    });

    it('are listed by address in code-unit order, in pages, like referenced contents', async () => {
      const { key } = await records().stage();
      const sizes = [3, 4];
      for (const [at, size] of sizes.entries()) {
        await records().version(key(`shared-${at}`), { contentAddress: addressOf('shared'), size });
      }
      const all = (await store.it.read.blobs({ limit: 1000 })).map(({ address }) => address);
      assert.deepEqual(all, [...all].sort());
      const paged = [];
      for (let after = undefined as (typeof all)[number] | undefined; ; after = paged.at(-1)) {
        const page = await store.it.read.blobs({ after, limit: 3 });
        if (page.length === 0) break;
        paged.push(...page.map(({ address }) => address));
      }
      assert.deepEqual(paged, all);
      const named = await store.it.read.referencedContents({ limit: 1000 });
      assert.deepEqual(
        named.map(({ address }) => address),
        named.map(({ address }) => address).sort(),
      );
      const shared = named.find(({ address }) => address === addressOf('shared'));
      assert.deepEqual(shared, {
        address: addressOf('shared'),
        generation: null,
        versions: 2,
        simulations: 0,
        minSize: 3,
        maxSize: 4,
      });
      const [next] = await store.it.read.referencedContents({ after: named[0]?.address, limit: 1 });
      assert.equal(next?.address, named[1]?.address);
    });

    it('raise no fault, nor does anything else that a store is used for', async () => {
      assert.deepEqual(await store.it.check(), []);
    });
  });

  describe('leases', () => {
    const store = opened(backend, backend.openStore);
    const holders = (nowMs: number) => store.it.read.leaseHolders('copy', nowMs);
    const put = (holder: string, untilMs: number) =>
      store.it.write((tx) => tx.putLease({ kind: 'copy', holder, untilMs }));

    it('last until they expire, longer when they are extended, and have one kind', async () => {
      await put('b', someTimeMs);
      await put('a', someTimeMs + 1);
      assert.deepEqual(await holders(someTimeMs - 1), ['a', 'b']);
      assert.deepEqual(await holders(someTimeMs), ['a']);
      await put('b', someTimeMs + 9);
      assert.deepEqual(await holders(someTimeMs + 1), ['b']);
      assert.deepEqual(await store.it.read.leaseHolders('collect', 0), []);
      await store.it.write((tx) => tx.deleteEndedLeases('copy', someTimeMs + 1));
      assert.deepEqual(await holders(someTimeMs), ['b']);
      await store.it.write((tx) => tx.deleteLease({ kind: 'collect', holder: 'b' }));
      assert.deepEqual(await holders(someTimeMs), ['b']);
      await store.it.write((tx) => tx.deleteLease({ kind: 'copy', holder: 'b' }));
      assert.deepEqual(await holders(someTimeMs), []);
    });

    it('have no effect when a clock that was ahead set their end a year away', async () => {
      await put('ahead', someTimeMs + 365 * 24 * 60 * 60 * 1000);
      assert.deepEqual(await holders(someTimeMs), []);
      await put('ahead', someTimeMs + 60 * 60 * 1000);
      assert.deepEqual(await holders(someTimeMs), ['ahead']);
      await store.it.write((tx) => tx.deleteLease({ kind: 'copy', holder: 'ahead' }));
    });
  });
}
