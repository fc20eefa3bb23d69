import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BlobRecord } from '../../../src/domain/housekeeping/ports.ts';
import { addressOf, createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** Rows for bytes, and leases. */
export function housekeepingContract(backend: Backend): void {
  describe('blobs', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    let made = 0;
    const someAddress = () => addressOf(`bytes ${made++}`);
    const hold = (fields: Partial<BlobRecord> & Pick<BlobRecord, 'address'>) =>
      store.it.write((tx) => tx.holdBlob({ size: 8, epoch: 'first', leaseUntilMs: someTimeMs + 10, ...fields }));
    const keep = (address: BlobRecord['address'], epoch: string) => store.it.write((tx) => tx.keepBlob(address, epoch));
    const note = (addresses: BlobRecord['address'][], nowMs: number) =>
      store.it.write((tx) => tx.noteUnused(addresses, nowMs));
    const condemn = (unusedSinceMs: number, nowMs = someTimeMs + 100, limit = 100) =>
      store.it.write((tx) => tx.condemnBlobs({ unusedSinceMs, nowMs, limit }));
    const row = (address: BlobRecord['address']) => store.it.read.blob(address);

    it('are pending when they are held first, and present when they are kept', async () => {
      const address = someAddress();
      assert.equal(await row(address), undefined);
      assert.equal(await hold({ address, size: 67_108_864 }), 'first');
      const pending = {
        address,
        size: 67_108_864,
        state: 'pending',
        epoch: 'first',
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

    it('stay in their epoch, and are held for as long as anybody holds them', async () => {
      const address = someAddress();
      await hold({ address });
      assert.equal(await hold({ address, epoch: 'second', leaseUntilMs: someTimeMs + 20 }), 'first');
      assert.equal(await hold({ address, epoch: 'third', leaseUntilMs: someTimeMs }), 'first');
      assert.equal((await row(address))?.leaseUntilMs, someTimeMs + 20);
    });

    it('are noted as unused once nobody holds them, unless a version names them', async () => {
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
      const isNamed = (await store.it.read.blobs({ limit: 1000 })).filter((blob) => all.includes(blob.address));
      assert.deepEqual(new Map(isNamed.map((blob) => [blob.address, blob.isNamed])).get(named), true);
      assert.equal(isNamed.filter((blob) => blob.isNamed).length, 1);
      await condemn(someTimeMs + 10);
    });

    it('are condemned after their time alone, dropped once, and come back in another epoch', async () => {
      const address = someAddress();
      await hold({ address, leaseUntilMs: 0 });
      await note([address], someTimeMs);
      assert.deepEqual(await condemn(someTimeMs - 1), []);
      assert.equal(await store.it.write((tx) => tx.dropBlob(address)), false, 'not before');
      const [condemned] = await condemn(someTimeMs);
      assert.deepEqual([condemned?.address, condemned?.state], [address, 'deleting']);
      assert.deepEqual(await condemn(someTimeMs), []);
      const isAmong = (rows: BlobRecord[]) => rows.some((blob) => blob.address === address);
      assert.ok(isAmong(await store.it.read.blobsBeingDeleted({ limit: 1000 })));
      assert.equal(await keep(address, 'first'), false, 'too late');
      assert.equal(await store.it.write((tx) => tx.dropBlob(address)), true);
      assert.equal(await store.it.write((tx) => tx.dropBlob(address)), false);
      assert.equal(await row(address), undefined);
      assert.equal(await hold({ address, epoch: 'second' }), 'second');
    });

    it('are taken back from being deleted, into another epoch', async () => {
      const address = someAddress();
      await hold({ address, leaseUntilMs: 0 });
      await note([address], someTimeMs);
      await condemn(someTimeMs);
      assert.equal(await hold({ address, epoch: 'second', size: 9, leaseUntilMs: someTimeMs + 5 }), 'second');
      assert.deepEqual(await row(address), {
        address,
        size: 9,
        state: 'pending',
        epoch: 'second',
        leaseUntilMs: someTimeMs + 5,
        unusedSinceMs: null,
      });
      assert.equal(await store.it.write((tx) => tx.dropBlob(address)), false);
      assert.equal(await keep(address, 'first'), false);
      assert.equal(await keep(address, 'second'), true);
    });

    it('are not condemned while they are held again, though they were unused before', async () => {
      const address = someAddress();
      await hold({ address, leaseUntilMs: 0 });
      await note([address], someTimeMs);
      await hold({ address, leaseUntilMs: someTimeMs + 50 });
      assert.deepEqual(await condemn(someTimeMs, someTimeMs + 49), []);
      assert.equal((await condemn(someTimeMs, someTimeMs + 50)).length, 1);
    });

    it('are neither condemned nor dropped while a version names them, whatever their rows say', async () => {
      const { key } = await records().stage();
      const [noted, doomed] = [someAddress(), someAddress()];
      for (const address of [noted, doomed]) await hold({ address, leaseUntilMs: 0 });
      await note([doomed], someTimeMs);
      await condemn(someTimeMs);
      await note([noted], someTimeMs);
      await records().version(key('noted'), { contentAddress: noted });
      await records().version(key('doomed'), { contentAddress: doomed });
      assert.deepEqual(await condemn(someTimeMs), []);
      assert.equal(await store.it.write((tx) => tx.dropBlob(doomed)), false);
      assert.equal((await row(doomed))?.state, 'present', 'and are taken back');
      assert.equal(await store.it.read.isContentNamed(doomed), true);
      assert.equal(await store.it.read.isContentNamed(someAddress()), false);
    });

    it('are condemned a few at a time', async () => {
      const addresses = [someAddress(), someAddress(), someAddress()];
      for (const address of addresses) await hold({ address, leaseUntilMs: 0 });
      await note(addresses, someTimeMs);
      assert.equal((await condemn(someTimeMs, someTimeMs, 2)).length, 2);
      assert.equal((await condemn(someTimeMs, someTimeMs, 2)).length, 1);
    });

    it('are adopted where they are not known, and stay as they are where they are', async () => {
      const [known, unknown] = [someAddress(), someAddress()];
      await hold({ address: known });
      const found = [known, unknown].map((address) => ({ address, size: 5, epoch: 'adopted' }));
      await store.it.write((tx) => tx.adoptBlobs(found));
      await store.it.write((tx) => tx.adoptBlobs([]));
      assert.equal((await row(known))?.epoch, 'first');
      assert.deepEqual(await row(unknown), {
        address: unknown,
        size: 5,
        state: 'present',
        epoch: 'adopted',
        leaseUntilMs: 0,
        unusedSinceMs: null,
      });
      const asked = [known, someAddress(), unknown];
      assert.deepEqual((await store.it.read.knownBlobs(asked)).sort(), [known, unknown].sort());
      assert.deepEqual(await store.it.read.knownBlobs([]), []);
    });

    it('are listed by address in code-unit order, in pages, and so is what versions name', async () => {
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
      const named = await store.it.read.namedContents({ limit: 1000 });
      assert.deepEqual(
        named.map(({ address }) => address),
        named.map(({ address }) => address).sort(),
      );
      const shared = named.find(({ address }) => address === addressOf('shared'));
      assert.deepEqual(shared, { address: addressOf('shared'), versions: 2, minSize: 3, maxSize: 4 });
      const [next] = await store.it.read.namedContents({ after: named[0]?.address, limit: 1 });
      assert.equal(next?.address, named[1]?.address);
    });

    it('raise no fault, nor does anything else that a store is used for', async () => {
      assert.deepEqual(await store.it.check(), []);
    });
  });

  describe('leases', () => {
    const store = opened(backend, backend.openStore);
    const holders = (nowMs: number) => store.it.read.leaseHolders('backup', nowMs);
    const put = (holder: string, untilMs: number) =>
      store.it.write((tx) => tx.putLease({ kind: 'backup', holder, untilMs }));

    it('last until their end, longer when they are put again, and are of one kind', async () => {
      await put('b', someTimeMs);
      await put('a', someTimeMs + 1);
      assert.deepEqual(await holders(someTimeMs - 1), ['a', 'b']);
      assert.deepEqual(await holders(someTimeMs), ['a']);
      await put('b', someTimeMs + 9);
      assert.deepEqual(await holders(someTimeMs + 1), ['b']);
      assert.deepEqual(await store.it.read.leaseHolders('collect', 0), []);
      await store.it.write((tx) => tx.deleteEndedLeases('backup', someTimeMs + 1));
      assert.deepEqual(await holders(0), ['b']);
      await store.it.write((tx) => tx.deleteLease({ kind: 'collect', holder: 'b' }));
      assert.deepEqual(await holders(0), ['b']);
      await store.it.write((tx) => tx.deleteLease({ kind: 'backup', holder: 'b' }));
      assert.deepEqual(await holders(0), []);
    });
  });
}
