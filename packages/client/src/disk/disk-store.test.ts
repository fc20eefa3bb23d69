import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../../test/helpers/temporary-folder.ts';
import { diskStore } from './disk-store.ts';

const block = 4096;
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A store of so many blocks in a folder that isn't there yet. */
async function openStore(test: TestContext, blocks: number) {
  const directory = join(await temporaryFolder(test), 'deep', 'down');
  return { directory, store: diskStore({ directory, maxBytes: blocks * block }) };
}

async function filesIn(directory: string): Promise<string[]> {
  const listed = await readdir(directory, { recursive: true, withFileTypes: true });
  return listed.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

describe('diskStore()', () => {
  it('stores entries across processes', async (test) => {
    const { directory, store } = await openStore(test, 10);
    assert.equal(await store.get('p/content/1'), undefined);
    await store.set('p/content/1', bytesOf('one'));
    await store.set('p/content/1', bytesOf('two'));
    const next = diskStore({ directory: pathToFileURL(directory) });
    assert.deepEqual(await next.get('p/content/1'), bytesOf('two'));
    await next.delete('p/content/1');
    await next.delete('p/content/1');
    assert.equal(await store.get('p/content/1'), undefined);
  });

  it('creates files and folders that other users cannot read', async (test) => {
    const { directory, store } = await openStore(test, 10);
    await store.set('p/content/1', bytesOf('one'));
    const [file] = await filesIn(directory);
    assert.ok(file);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(dirname(file))).mode & 0o777, 0o700);
  });

  it('rejects keys that lead outside its folder', async (test) => {
    const { store } = await openStore(test, 10);
    for (const key of ['', '/', '../x', 'a/../b', 'a//b', 'A', 'a/.', 'a\\b', 'a\0', 'a/']) {
      await assert.rejects(store.set(key, bytesOf('x')), TypeError, key);
      await assert.rejects(store.get(key), TypeError, key);
    }
  });

  it('evicts the least recently used entries above `maxBytes`', async (test) => {
    const { directory, store } = await openStore(test, 10);
    for (let number = 0; number < 10; number++) {
      await store.set(`content/${number}`, bytesOf(`${number}`));
      await age(directory, `content/${number}`, 3_600 - number);
    }
    await store.get('content/0'); // which notes that it is used
    await store.set('content/10', bytesOf('10'));
    const left = await Promise.all(
      Array.from({ length: 11 }, async (_, number) => (await store.get(`content/${number}`)) && number),
    );
    // Nine tenths of ten blocks are left, so that not every write has to look.
    assert.deepEqual(
      left.filter((number) => number !== undefined),
      [0, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    assert.equal((await filesIn(directory)).length, 9);
  });

  it('counts the writes of other processes after a while', async (test) => {
    const { directory, store } = await openStore(test, 100);
    await store.set('content/mine', bytesOf('mine'));
    const other = diskStore({ directory, maxBytes: Number.MAX_SAFE_INTEGER });
    for (let number = 0; number < 200; number++) await other.set(`content/${number}`, bytesOf('theirs'));
    for (let number = 0; number < 7; number++) await store.set(`content/mine${number}`, bytesOf('mine'));
    const files = (await filesIn(directory)).length;
    assert.ok(files >= 90 && files <= 100, `${files} files`);
  });

  it('does not store an entry larger than `maxBytes`', async (test) => {
    const { directory, store } = await openStore(test, 2);
    await store.set('content/small', bytesOf('small'));
    await store.set('content/large', new Uint8Array(2 * block + 1));
    assert.equal(await store.get('content/large'), undefined);
    assert.deepEqual(await store.get('content/small'), bytesOf('small'));
    assert.equal((await filesIn(directory)).length, 1);
  });

  it('deletes abandoned temporary files, and no active ones', async (test) => {
    const { directory, store } = await openStore(test, 10);
    await mkdir(join(directory, 'partial'), { recursive: true });
    const [old, young] = ['old', 'young'].map((name) => join(directory, 'partial', name));
    assert.ok(old && young);
    for (const file of [old, young]) await writeFile(file, 'half');
    const longAgo = new Date(Date.now() - 11 * 60_000);
    await utimes(old, longAgo, longAgo);
    await store.set('content/1', bytesOf('one')); // the first write looks what is there
    assert.deepEqual(await readdir(join(directory, 'partial')), ['young']);
  });

  it('leaves no partial file if a write fails', async (test) => {
    const { directory, store } = await openStore(test, 10);
    await store.set('content/1', bytesOf('one'));
    await mkdir(join(directory, 'entries', 'content', '2'));
    await assert.rejects(store.set('content/2', bytesOf('two')));
    assert.equal((await filesIn(directory)).length, 1);
  });

  it('works after its folder is deleted', async (test) => {
    const { directory, store } = await openStore(test, 10);
    await store.set('content/1', bytesOf('one'));
    await rm(directory, { recursive: true });
    assert.equal(await store.get('content/1'), undefined);
    await store.set('content/1', bytesOf('one'));
    assert.deepEqual(await store.get('content/1'), bytesOf('one'));
  });

  it('reads from a read-only folder', async (test) => {
    const { directory, store } = await openStore(test, 10);
    await store.set('content/1', bytesOf('one'));
    await rm(join(directory, 'partial'), { recursive: true });
    await writeFile(join(directory, 'partial'), ''); // for root, too, nothing can be written below it
    await assert.rejects(store.set('content/2', bytesOf('two')));
    assert.deepEqual(await store.get('content/1'), bytesOf('one'));
  });

  it('names the invalid option', () => {
    assert.throws(() => diskStore({ directory: '' }), { code: 'invalid_option', option: 'directory' });
    assert.throws(() => diskStore({ directory: '/x', maxBytes: -1 }), { code: 'invalid_option', option: 'maxBytes' });
  });

  it('never returns a partial file while others write it', async (test) => {
    const { directory } = await openStore(test, 10);
    const contents = ['a', 'b', 'c', 'd'].map((letter) => bytesOf(letter.repeat(300_000)));
    const stores = contents.map(() => diskStore({ directory }));
    let reads = 0;
    await Promise.all(
      stores.map(async (store, at) => {
        for (let time = 0; time < 25; time++) {
          await store.set('content/1', contents[at] ?? new Uint8Array());
          const read = await store.get('content/1');
          assert.ok(contents.some((content) => Buffer.compare(content, read ?? new Uint8Array()) === 0));
          reads++;
        }
      }),
    );
    assert.equal(reads, 100);
    const files = await filesIn(directory);
    assert.equal(files.length, 1);
    assert.equal((await readFile(files[0] ?? '')).length, 300_000);
  });
});

async function age(directory: string, key: string, seconds: number): Promise<void> {
  const then = new Date(Date.now() - seconds * 1000);
  await utimes(join(directory, 'entries', ...key.split('/')), then, then);
}
