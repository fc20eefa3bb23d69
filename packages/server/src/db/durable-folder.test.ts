import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeDurableFolder } from './durable-folder.ts';

describe('makeDurableFolder()', () => {
  let location: string;
  before(async () => {
    location = await mkdtemp(join(tmpdir(), 'tenon-folder-'));
  });
  after(() => rm(location, { recursive: true, force: true }));

  it('creates the parents too, accessible only to the owner, and keeps existing folders', async () => {
    const folder = join(location, 'a', 'b', 'c');
    await Promise.all([makeDurableFolder(folder), makeDurableFolder(folder)]);
    await makeDurableFolder(folder);
    for (const path of [folder, join(location, 'a')]) assert.equal((await stat(path)).mode & 0o777, 0o700, path);
  });

  it('fails if a parent is a file', async () => {
    const file = join(location, 'file');
    await writeFile(file, '');
    await assert.rejects(makeDurableFolder(file), { code: 'EEXIST' });
    await assert.rejects(makeDurableFolder(join(file, 'below', 'it')), { code: 'EEXIST' });
  });

  it('fails, instead of hanging, below a folder that accepts no folders', { timeout: 5000 }, async () => {
    const folder = process.platform === 'linux' ? '/proc/tenon/data' : join(location, '\0');
    await assert.rejects(makeDurableFolder(folder));
  });
});
