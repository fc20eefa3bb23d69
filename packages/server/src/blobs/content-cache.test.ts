import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import { until } from '../../../../test/helpers/until.ts';
import { contentsOf } from '../../test/helpers/contents.ts';
import { contentAddressOf } from '../plugins/publish.ts';
import type { BlobStore } from './blob-store.ts';
import { createContentCache } from './content-cache.ts';
import { openFolderBlobStore } from './folder/folder-blob-store.ts';

const MiB = 1024 * 1024;

describe('createContentCache()', () => {
  let folder: string;
  let blobs: BlobStore;
  let opened = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-cache-'));
    const store = await openFolderBlobStore({ folder });
    blobs = {
      ...store,
      open(address, range) {
        opened++;
        return store.open(address, range);
      },
    };
  });
  after(async () => {
    await blobs.close();
    await rm(folder, { recursive: true });
  });

  const sizes = new Map<ContentAddress, number>();
  const cacheOf = (blobs: BlobStore, maxBytes: number) => createContentCache(contentsOf(blobs, sizes), maxBytes);

  async function put(seed: number, length: number) {
    const bytes = Buffer.alloc(length, seed);
    const address = contentAddressOf(bytes);
    await blobs.put(address, bytes);
    sizes.set(address, length);
    return { bytes, address };
  }

  it('reads a small content once, and a large one never whole', async () => {
    const cache = cacheOf(blobs, 8000);
    const small = await put(1, 1000);
    const large = await put(2, 1001);
    opened = 0;
    assert.deepEqual(Buffer.from((await cache.small(small.address)) ?? []), small.bytes);
    assert.deepEqual(Buffer.from((await cache.small(small.address)) ?? []), small.bytes);
    assert.equal(opened, 1);
    assert.equal(await cache.small(large.address), undefined);
    assert.equal(await cache.size(large.address), 1001);
  });

  it('shares one read between concurrent callers', async () => {
    const cache = cacheOf(blobs, 8000);
    const { address, bytes } = await put(3, 1000);
    opened = 0;
    const all = await Promise.all(Array.from({ length: 20 }, () => cache.small(address)));
    for (const content of all) assert.deepEqual(Buffer.from(content ?? []), bytes);
    assert.equal(opened, 1);
  });

  it('evicts the least recently used content', async () => {
    const cache = cacheOf(blobs, 8000);
    const contents = await Promise.all([...Array(9).keys()].map((seed) => put(10 + seed, 1000)));
    const [first, second] = contents;
    assert.ok(first && second);
    for (const { address } of contents.slice(0, 8)) await cache.small(address);
    await cache.small(first.address);
    await cache.small(contents[8]?.address ?? first.address); // one too many: the second goes
    opened = 0;
    await cache.small(first.address);
    assert.equal(opened, 0);
    await cache.small(second.address);
    assert.equal(opened, 1);
  });

  it('copies the chunks of a large cached content, and continues from the store after an eviction', async () => {
    const cache = cacheOf(blobs, 24 * MiB);
    const large = await put(30, 3 * MiB);
    opened = 0;
    assert.equal(await cache.small(large.address), undefined);
    assert.equal(await cache.small(large.address), undefined);
    assert.equal(opened, 1);
    const whole = await Array.fromAsync((await cache.open(large.address)) ?? []);
    assert.ok(Buffer.concat(whole).equals(large.bytes));
    for (const chunk of whole) assert.ok(chunk.buffer.byteLength <= MiB, 'it holds no more than itself');
    const part = (await cache.open(large.address, { first: 5, last: 2 * MiB })) ?? [];
    assert.ok(Buffer.concat(await Array.fromAsync(part)).equals(large.bytes.subarray(5, 2 * MiB + 1)));
    assert.equal(opened, 1);

    const rest: Uint8Array[] = [];
    for await (const chunk of (await cache.open(large.address)) ?? []) {
      if (rest.push(chunk) > 1) continue;
      for (let seed = 31; seed < 40; seed++) await cache.small((await put(seed, 3 * MiB)).address);
      opened = 0;
    }
    assert.equal(opened, 1);
    assert.ok(Buffer.concat(rest).equals(large.bytes));
  });

  it('limits concurrent loads to the size of the cache', async () => {
    const waiting: (() => void)[] = [];
    const slow: BlobStore = {
      ...blobs,
      async open(address) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return blobs.open(address);
      },
    };
    const cache = cacheOf(slow, 8000);
    const contents = await Promise.all([...Array(12).keys()].map((seed) => put(50 + seed, 1000)));
    const asked = contents.map(({ address }) => Promise.resolve(cache.small(address)));
    await until(() => waiting.length >= 8);
    const refused = await Promise.any(asked);
    assert.equal(refused, undefined); // those are read as they are sent
    for (const go of waiting) go();
    const found = (await Promise.all(asked)).filter((content) => content !== undefined);
    assert.equal(found.length, 8);
    assert.equal(waiting.length, 8);
  });

  it('returns undefined for a missing content', async () => {
    const cache = cacheOf(blobs, 8000);
    const address = contentAddressOf(Buffer.from('never stored'));
    assert.equal(await cache.small(address), undefined);
    assert.equal(await cache.size(address), undefined);
  });
});
