import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { packArchive } from './archive.mjs';

const files = new Map([
  ['package.json', '{"name":"a"}'],
  ['index.js', 'export const a = 1;\n'],
  ['bin/run.mjs', '#!/usr/bin/env node\n'],
  ['empty', ''],
  ['exact', 'x'.repeat(512)],
]);
const executables = new Set(['bin/run.mjs']);

describe('packArchive', () => {
  it('makes the same bytes from the same files, in any order, at any time', () => {
    const packed = packArchive(files, executables);
    assert.deepEqual(packArchive(new Map([...files].reverse()), executables), packed);
    // Fails when the format changes, which gives a published version other bytes. gzip's bytes depend on zlib.
    const digest = createHash('sha256').update(gunzipSync(packed)).digest('hex');
    assert.equal(digest, 'd5b58f53927fe4fdd79697d17c8b6489fb24160fd64bf830073c95ab4372e236');
  });

  it('makes an archive that tar unpacks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-archive-'));
    try {
      await writeFile(join(folder, 'a.tgz'), packArchive(files, executables));
      const { status, stderr } = spawnSync('tar', ['-xzf', 'a.tgz'], { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      for (const [path, text] of files) assert.equal(await readFile(join(folder, 'package', path), 'utf8'), text);
      const modeOf = async (path: string) => (await stat(join(folder, 'package', path))).mode & 0o111;
      assert.notEqual(await modeOf('bin/run.mjs'), 0);
      assert.equal(await modeOf('index.js'), 0);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('rejects a path that does not fit', () => {
    assert.throws(() => packArchive(new Map([['a'.repeat(100), '']])), /too long/);
  });
});
