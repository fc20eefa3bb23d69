import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { addressOfBytes, assertSameBytes, bytesOf, collect } from '../helpers/bytes.ts';
import { type Backend, opened } from './backend.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** Invalid addresses, some of which would lead out of a folder. */
const noAddresses = [
  '',
  '.',
  '..',
  'tmp',
  '../../../../../../../../../../etc/passwd',
  '/etc/passwd',
  'a\u0000b',
  '/'.repeat(43),
  '.'.repeat(43),
  `${'A'.repeat(42)}B`, // has bits beyond the 256
  'A'.repeat(42),
  'A'.repeat(44),
  `${'A'.repeat(43)}=`,
  `+${'A'.repeat(42)}`, // base64, not base64url
] as ContentAddress[];

/** What any implementation of `BlobStore` must do. */
export function blobStoreContract(name: string, backend: Backend): void {
  describe(`${name} as a BlobStore`, () => {
    const blobs = opened(backend, backend.openBlobs);
    const put = async (bytes: Uint8Array, into: BlobStore = blobs.it) => {
      const address = addressOfBytes(bytes);
      await into.put(address, bytes);
      return address;
    };

    for (const length of [0, 1, 64 * kibibyte, 256 * kibibyte - 1, 256 * kibibyte, 256 * kibibyte + 1, 5 * mebibyte]) {
      it(`returns ${length} bytes as they were stored`, async () => {
        const bytes = bytesOf(length + 1, length);
        const address = await put(bytes);
        assert.equal(await blobs.it.size(address), length);
        assertSameBytes(await collect(await blobs.it.open(address)), bytes);
      });
    }

    it('returns undefined for a missing blob', async () => {
      const address = addressOfBytes(bytesOf(999, 10));
      assert.equal(await blobs.it.size(address), undefined);
      assert.equal(await blobs.it.open(address), undefined);
      assert.equal(await blobs.it.open(address, { first: 0, last: 0 }), undefined);
    });

    it('returns any range of a blob', async () => {
      const bytes = bytesOf(7, mebibyte + 1);
      const address = await put(bytes);
      const end = bytes.length - 1;
      const edge = 256 * kibibyte;
      const ranges: [number, number][] = [
        [0, 0],
        [0, 1],
        [0, end],
        [end, end],
        [1, end - 1],
        [edge - 1, edge],
        [edge, 2 * edge - 1],
        [edge + 1, 3 * edge],
        [12_345, 678_901],
      ];
      for (const [first, last] of ranges) {
        const stretch = await collect(await blobs.it.open(address, { first, last }));
        assertSameBytes(stretch, bytes.slice(first, last + 1), `bytes ${first} to ${last}`);
      }
    });

    it('refuses a stretch that goes beyond the blob', async () => {
      const address = await put(bytesOf(8, 100));
      await assert.rejects(async () => collect(await blobs.it.open(address, { first: 0, last: 100 })), RangeError);
      await assert.rejects(async () => collect(await blobs.it.open(address, { first: -1, last: 5 })), RangeError);
    });

    it('returns a large blob in chunks, with backpressure', async () => {
      const bytes = bytesOf(9, 3 * mebibyte);
      const address = await put(bytes);
      const chunks = (await blobs.it.open(address))?.[Symbol.asyncIterator]();
      let length = 0;
      for (let next = await chunks?.next(); !next?.done; next = await chunks?.next()) {
        assert.ok(next !== undefined && next.value.length > 0 && next.value.length <= mebibyte);
        length += next.value.length;
      }
      assert.equal(length, bytes.length);
    });

    it('may be read through one piece of memory, a chunk after the other', async () => {
      const bytes = bytesOf(14, 2 * mebibyte);
      const address = await put(bytes);
      const copies: Uint8Array[] = [];
      const range = { first: 5, last: bytes.length - 8 };
      const chunks = await blobs.it.open(address, range, undefined, new Uint8Array(100_000));
      for await (const chunk of chunks ?? []) copies.push(chunk.slice());
      assertSameBytes(Buffer.concat(copies), bytes.slice(range.first, range.last + 1));
    });

    it('supports concurrent readers, of which some stop early', async () => {
      const bytes = bytesOf(10, 2 * mebibyte);
      const address = await put(bytes);
      const readers = Array.from({ length: 8 }, async (_, reader) => {
        const chunks = await blobs.it.open(address);
        assert.ok(chunks !== undefined);
        if (reader % 2 === 0) return assertSameBytes(await collect(chunks), bytes);
        for await (const chunk of chunks) {
          assertSameBytes(chunk, bytes.slice(0, chunk.length));
          break;
        }
      });
      await Promise.all(readers);
    });

    it('stores the same bytes again, also concurrently, also while they are read', async () => {
      const bytes = bytesOf(11, mebibyte);
      const address = await put(bytes);
      const chunks = await blobs.it.open(address);
      const reading = collect(chunks);
      await Promise.all(Array.from({ length: 10 }, () => put(bytes)));
      assertSameBytes(await reading, bytes);
      assertSameBytes(await collect(await blobs.it.open(address)), bytes);
    });

    it('never shows a blob before it is whole', async () => {
      const bytes = bytesOf(12, 4 * mebibyte);
      const address = addressOfBytes(bytes);
      let done = false;
      const putting = blobs.it.put(address, bytes).then(() => {
        done = true;
      });
      while (!done) {
        const size = await blobs.it.size(address);
        assert.ok(size === undefined || size === bytes.length, `${size}`);
      }
      await putting;
      assert.equal(await blobs.it.size(address), bytes.length);
    });

    it('separates addresses that differ only in case', async () => {
      const address = await put(bytesOf(13, 100));
      for (const [at, character] of [...address].entries()) {
        const swapped = character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
        if (swapped === character) continue;
        const other = (address.slice(0, at) + swapped + address.slice(at + 1)) as ContentAddress;
        assert.equal(await blobs.it.size(other), undefined, other);
      }
    });

    it('has no blob under a malformed key, and rejects storing one', async () => {
      for (const text of noAddresses) {
        assert.equal(await blobs.it.size(text), undefined, text);
        assert.equal(await blobs.it.open(text), undefined, text);
        await assert.rejects(blobs.it.put(text, bytesOf(14, 10)), TypeError, text);
        assert.equal(await blobs.it.delete(text), false, text);
      }
    });

    it('deletes a blob once, and stores it again', async () => {
      const bytes = bytesOf(20, 1000);
      const address = await put(bytes);
      assert.equal(await blobs.it.delete(address), true);
      assert.equal(await blobs.it.size(address), undefined);
      assert.equal(await blobs.it.open(address), undefined);
      assert.equal(await blobs.it.delete(address), false);
      await put(bytes);
      assertSameBytes(await collect(await blobs.it.open(address)), bytes);
    });

    it('returns all of a blob that is deleted during the read', async () => {
      const bytes = bytesOf(21, 2 * mebibyte);
      const address = await put(bytes);
      const pieces: Uint8Array[] = [];
      for await (const chunk of (await blobs.it.open(address)) ?? []) {
        if (pieces.length === 0) assert.equal(await blobs.it.delete(address), true);
        pieces.push(chunk);
      }
      assertSameBytes(new Uint8Array(Buffer.concat(pieces)), bytes);
    });

    it('lists every blob, and nothing else', async () => {
      const { location, remove } = await backend.makeLocation();
      const empty = await backend.openBlobs(location);
      assert.deepEqual(await Array.fromAsync(empty.list()), []);
      const all = [];
      for (let at = 0; at < 20; at++) all.push(await put(bytesOf(30 + at, 10), empty));
      assert.deepEqual((await Array.fromAsync(empty.list())).sort(), all.sort());
      await empty.delete(all[3] as ContentAddress);
      assert.deepEqual((await Array.fromAsync(empty.list())).sort(), all.toSpliced(3, 1).sort());
      await empty.close();
      await remove();
    });

    it('has no incomplete uploads without an interruption', async () => {
      // On its own: a file that was replaced a moment ago is unlinked a second later.
      const { location, remove } = await backend.makeLocation();
      const own = await backend.openBlobs(location);
      await put(bytesOf(22, 1000), own);
      assert.equal(await own.deleteUnfinished(Date.now() + 86_400_000), 0);
      await own.close();
      await remove();
    });

    it('shares its blobs with another store on the same data', async () => {
      const other = await backend.openBlobs(blobs.location);
      const bytes = bytesOf(15, 1000);
      assertSameBytes(await collect(await blobs.it.open(await put(bytes, other))), bytes);
      await other.close();
    });

    it('resolves concurrent pings for reads and writes', async () => {
      const { it } = blobs;
      await Promise.all([it.ping(), it.pingWrite(), it.ping(), it.pingWrite()]);
    });

    it('reports the steps of a put in the documented order', async () => {
      const steps: string[] = [];
      const watched = await backend.openBlobs(blobs.location, (step) => void steps.push(step));
      await put(bytesOf(16, 1000), watched);
      await watched.close();
      assert.deepEqual(steps, backend.blobSteps);
    });
  });
}
