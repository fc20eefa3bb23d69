import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, stat, truncate, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { ContentAddress } from '@tenon/protocol';
import { until } from '../../../../../test/helpers/until.ts';
import { blobStoreContract } from '../../../test/contracts/blob-store-contract.ts';
import { addressOfBytes, assertSameBytes, bytesOf, collect } from '../../../test/helpers/bytes.ts';
import { backend } from '../../../test/helpers/stores.ts';
import { type FileCall, watchedFiles } from '../../../test/helpers/watched-files.ts';
import { StorageFullError } from '../../db/store.ts';
import { openFolderBlobStore } from './folder-blob-store.ts';

blobStoreContract('openFolderBlobStore()', backend);

const anHourMs = 60 * 60 * 1000;

describe('openFolderBlobStore()', () => {
  let location: string;
  let remove: () => Promise<void>;
  before(async () => {
    ({ location, remove } = await backend.makeLocation());
  });
  after(() => remove());

  const filesIn = async (folder: string) =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

  it('stores a blob under its hexadecimal digest, readable only by the owner', async () => {
    const folder = join(location, 'deep', 'blobs');
    const blobs = await openFolderBlobStore({ folder });
    await blobs.put(addressOfBytes(new TextEncoder().encode('abc')), new TextEncoder().encode('abc'));
    // The digest of "abc": https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values
    const name = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    const file = await stat(join(folder, 'ba', name));
    assert.equal(file.mode & 0o777, 0o600);
    assert.equal(file.size, 3);
    assert.equal((await filesIn(folder)).length, 1);
    for (const path of ['..', '.', 'ba', 'tmp']) {
      assert.equal((await stat(join(folder, path))).mode & 0o777, 0o700, path);
    }
  });

  it('lets several processes write and read the same blob concurrently', async () => {
    const folder = join(location, 'shared');
    const program = `
      const [storeUrl, folder, address] = process.argv.slice(1);
      const { openFolderBlobStore } = await import(storeUrl);
      const blobs = await openFolderBlobStore({ folder });
      const bytes = new TextEncoder().encode('abc');
      for (let round = 0; round < 20; round++) {
        await Promise.all(Array.from({ length: 8 }, async () => {
          await blobs.put(address, bytes);
          let size = 0;
          for await (const chunk of await blobs.open(address)) size += chunk.length;
          if (size !== bytes.length) throw new Error('a blob of ' + size + ' bytes');
        }));
      }
      await blobs.close();`;
    const storeUrl = new URL('./folder-blob-store.ts', import.meta.url).href;
    const address = addressOfBytes(new TextEncoder().encode('abc'));
    const run = promisify(execFile);
    const args = ['--input-type=module', '--eval', program, storeUrl, folder, address];
    await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
    assert.equal((await filesIn(folder)).length, 1, 'and leaves nothing behind');
  });

  it('creates missing folders when it is reopened', async () => {
    const folder = join(location, 'restored');
    await mkdir(join(folder, '00'), { recursive: true });
    await openFolderBlobStore({ folder });
    assert.equal((await readdir(folder)).length, 257);
  });

  it('deletes temporary files older than an hour, and no others', async () => {
    const folder = join(location, 'abandoned');
    await openFolderBlobStore({ folder });
    const nowMs = Date.UTC(2026, 5, 1);
    for (const [name, ageMs] of Object.entries({ old: anHourMs + 1000, young: anHourMs - 1000 })) {
      await writeFile(join(folder, 'tmp', name), 'left');
      await utimes(join(folder, 'tmp', name), new Date(nowMs - ageMs), new Date(nowMs - ageMs));
    }
    await openFolderBlobStore({ folder, clock: () => nowMs });
    assert.deepEqual(await readdir(join(folder, 'tmp')), ['young']);
  });

  it('lists only files with a blob name, and deletes unfinished writes', async () => {
    const folder = join(location, 'strangers');
    const blobs = await openFolderBlobStore({ folder });
    const digest = Buffer.from(addressOfBytes(bytesOf(5, 5)), 'base64url').toString('hex');
    const shard = digest.slice(0, 2);
    await writeFile(join(folder, shard, 'notes.txt'), '');
    await writeFile(join(folder, shard, digest.toUpperCase()), '');
    await writeFile(join(folder, shard === '00' ? '01' : '00', digest), 'in the wrong folder');
    await writeFile(join(folder, 'tmp', digest), 'half');
    assert.deepEqual(await Array.fromAsync(blobs.list()), []);
    const nowMs = Date.UTC(2026, 5, 1);
    await utimes(join(folder, 'tmp', digest), new Date(nowMs), new Date(nowMs));
    assert.equal(await blobs.deleteUnfinished(nowMs), 0);
    assert.equal(await blobs.deleteUnfinished(nowMs + 1000), 1);
    assert.deepEqual(await readdir(join(folder, 'tmp')), []);
  });

  const failures: [FileCall, string][] = [
    ['open', 'ENOSPC'],
    ['write', 'ENOSPC'],
    ['write again', 'ENOSPC'],
    ['write', 'EDQUOT'],
    ['sync', 'ENOSPC'],
    ['close', 'EDQUOT'],
    ['rename', 'ENOSPC'],
  ];
  for (const [call, code] of failures) {
    it(`fails with StorageFullError for ${code} at ${call}, leaves no file, and works when there is space again`, async () => {
      const folder = join(location, `full-${call}-${code}`);
      let full = true;
      const files = watchedFiles((made) => {
        if (full && made === call) throw Object.assign(new Error('no room'), { code });
      });
      const blobs = await openFolderBlobStore({ folder, files });
      const bytes = bytesOf(1, 300_000);
      const address = addressOfBytes(bytes);
      await assert.rejects(blobs.put(address, bytes), StorageFullError);
      assert.deepEqual(await filesIn(folder), []);
      assert.equal(await blobs.size(address), undefined);
      full = false;
      await blobs.put(address, bytes);
      assertSameBytes(await collect(await blobs.open(address)), bytes);
    });
  }

  it('replaces an existing blob by the same steps, and frees its blocks later', async () => {
    const folder = join(location, 'known');
    const calls: FileCall[] = [];
    const blobs = await openFolderBlobStore({ folder, files: watchedFiles((call) => void calls.push(call)) });
    const bytes = bytesOf(7, 2_500_000);
    const address = addressOfBytes(bytes);
    await blobs.put(address, bytes);
    const ofNew = calls.splice(0);
    const before = await stat(pathOf(folder, address));
    await blobs.put(address, bytes);
    assert.deepEqual(calls.splice(0), ofNew);
    assert.ok(!ofNew.includes('unlink'));
    const kept = await readdir(join(folder, 'tmp'));
    assert.equal(kept.length, 1);
    assert.equal((await stat(join(folder, 'tmp', kept[0] ?? ''))).ino, before.ino, 'the file that was replaced');
    await until(async () => (await readdir(join(folder, 'tmp'))).length === 0);
    assertSameBytes(await collect(await blobs.open(address)), bytes);
  });

  it('replaces a file on a file system without hard links', async () => {
    const files = watchedFiles((call) => {
      if (call === 'link') throw Object.assign(new Error('no hard links'), { code: 'EPERM' });
    });
    const folder = join(location, 'no-links');
    const blobs = await openFolderBlobStore({ folder, files });
    const bytes = bytesOf(8, 10);
    for (let round = 0; round < 2; round++) await blobs.put(addressOfBytes(bytes), bytes);
    assert.equal((await filesIn(folder)).length, 1);
  });

  it('passes other errors through unchanged', async () => {
    const reason = Object.assign(new Error('broken'), { code: 'EIO' });
    const files = watchedFiles((made) => {
      if (made === 'sync') throw reason;
    });
    const blobs = await openFolderBlobStore({ folder: join(location, 'broken'), files });
    const bytes = bytesOf(2, 10);
    await assert.rejects(blobs.put(addressOfBytes(bytes), bytes), (error) => error === reason);
  });

  it('fails for a truncated file, and works after the same bytes are stored again', async () => {
    const folder = join(location, 'damaged');
    const blobs = await openFolderBlobStore({ folder });
    const bytes = bytesOf(3, 600_000);
    const address = addressOfBytes(bytes);
    await blobs.put(address, bytes);
    const chunks = await blobs.open(address);
    await truncate(pathOf(folder, address), 300_000);
    await assert.rejects(collect(chunks), /ends at byte 300000, expected at least 600000/);
    await blobs.put(address, bytes);
    assertSameBytes(await collect(await blobs.open(address)), bytes);
  });

  it('finishes reading a blob that is deleted meanwhile', async () => {
    const folder = join(location, 'removed');
    const blobs = await openFolderBlobStore({ folder });
    const bytes = bytesOf(4, 600_000);
    const address = addressOfBytes(bytes);
    await blobs.put(address, bytes);
    let length = 0;
    for await (const chunk of (await blobs.open(address)) ?? []) {
      if (length === 0) await unlink(pathOf(folder, address));
      length += chunk.length;
    }
    assert.equal(length, bytes.length);
    assert.equal(await blobs.size(address), undefined);
  });

  it('fails pingWrite() when the folder is not writable', async () => {
    const folder = join(location, 'unwritable');
    const files = watchedFiles((made) => {
      if (made === 'open') throw Object.assign(new Error('read-only file system'), { code: 'EROFS' });
    });
    const blobs = await openFolderBlobStore({ folder, files });
    await assert.rejects(blobs.pingWrite(), /read-only/);
  });
});

function pathOf(folder: string, address: ContentAddress): string {
  const name = Buffer.from(address, 'base64url').toString('hex');
  return join(folder, name.slice(0, 2), name);
}
