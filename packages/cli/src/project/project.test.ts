import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { findModule, findProject } from './project.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-project-'));
});

afterEach(() => rm(folder, { recursive: true }));

async function makeProject(text = '[plugin]\nname = "greet"\n'): Promise<string> {
  const project = join(folder, 'greet');
  await mkdir(join(project, 'deep', 'down'), { recursive: true });
  await writeFile(join(project, 'tenon.toml'), text);
  return project;
}

describe('findProject()', () => {
  it('finds the file here, or in a folder above', async () => {
    const project = await makeProject();
    for (const from of [project, join(project, 'deep'), join(project, 'deep', 'down')]) {
      const found = await findProject(from);
      assert.deepEqual([found?.folder, found?.settings.name], [project, 'greet'], from);
    }
    await writeFile(join(project, 'deep', 'tenon.toml'), '[plugin]\nname = "nearer"');
    assert.equal((await findProject(join(project, 'deep', 'down')))?.settings.name, 'nearer');
  });

  it('finds nothing where there is none', async () => {
    assert.equal(await findProject(folder), undefined);
  });

  it('refuses what is too large, not UTF-8, or no file, without reading on', async () => {
    const project = await makeProject(`# ${'x'.repeat(64 * 1024)}`);
    await assert.rejects(findProject(project), /larger than the 64 KiB/);
    await writeFile(join(project, 'tenon.toml'), Buffer.from([0x23, 0xff, 0xfe]));
    await assert.rejects(findProject(project), /not UTF-8/);
    await rm(join(project, 'tenon.toml'));
    await mkdir(join(project, 'tenon.toml'));
    await assert.rejects(findProject(project), /is not a file/);
  });

  it('does not wait for a pipe', { skip: process.platform === 'win32' }, async () => {
    const project = await makeProject();
    await rm(join(project, 'tenon.toml'));
    assert.equal(spawnSync('mkfifo', [join(project, 'tenon.toml')]).status, 0);
    await assert.rejects(findProject(project), /is not a file/);
  });

  it("does not take another user's from above", {
    skip: process.getuid?.() !== 0 && 'only root gives files away',
  }, async () => {
    const project = await makeProject();
    await chown(join(project, 'tenon.toml'), 12_345, 12_345);
    await assert.rejects(findProject(join(project, 'deep')), /belongs to another user/);
    assert.equal((await findProject(project))?.settings.name, 'greet', 'where one stands it is taken');
    await chown(join(project, 'deep'), 12_345, 12_345);
    assert.equal((await findProject(join(project, 'deep')))?.settings.name, 'greet', 'as that of the folder itself');
  });
});

describe('findModule()', () => {
  it('finds a file in the folder, and tells when it is not there yet', async () => {
    const project = { folder: await makeProject(), fileName: 'tenon.toml' };
    assert.deepEqual(await findModule(project, 'deep/a.wasm'), {
      path: join(project.folder, 'deep', 'a.wasm'),
      isThere: false,
    });
    await writeFile(join(project.folder, 'deep', 'a.wasm'), '');
    assert.equal((await findModule(project, 'deep/../deep/a.wasm')).isThere, true);
  });

  it('refuses what lies elsewhere, through links too', async () => {
    const project = { folder: await makeProject(), fileName: 'tenon.toml' };
    const secret = join(folder, 'secret');
    await writeFile(secret, 'a private key');
    await symlink(secret, join(project.folder, 'link.wasm'));
    await symlink(folder, join(project.folder, 'up'));
    for (const module of ['../secret', secret, 'link.wasm', 'up/secret', 'deep/../../secret', '.', '..']) {
      await assert.rejects(findModule(project, module), { code: 'usage', message: /is outside of its folder/ }, module);
    }
  });

  it('takes a link within the folder', async () => {
    const project = { folder: await makeProject(), fileName: 'tenon.toml' };
    await writeFile(join(project.folder, 'deep', 'a.wasm'), '');
    await symlink('deep/a.wasm', join(project.folder, 'link.wasm'));
    assert.equal((await findModule(project, 'link.wasm')).isThere, true);
  });
});
