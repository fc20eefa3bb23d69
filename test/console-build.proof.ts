import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { root } from './helpers/server.ts';

describe('scripts/build-console.mjs', () => {
  let copy: string;
  let builds: string;

  beforeEach(async () => {
    copy = await mkdtemp(join(tmpdir(), 'tenon-build-'));
    builds = join(copy, 'packages', 'console', 'dist');
    cpSync(join(root, 'scripts'), join(copy, 'scripts'), { recursive: true });
    mkdirSync(join(copy, 'packages', 'console'), { recursive: true });
    for (const name of ['index.html', 'package.json', 'vite.config.ts', 'src']) {
      cpSync(join(root, 'packages', 'console', name), join(copy, 'packages', 'console', name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
  });
  afterEach(() => rm(copy, { recursive: true, force: true }));

  async function build(): Promise<void> {
    const child = spawn(process.execPath, [join(copy, 'scripts', 'build-console.mjs')], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 0, stderr);
  }

  const current = () => readFileSync(join(builds, 'current'), 'utf8').trim();
  const folders = () =>
    readdirSync(builds)
      .filter((name) => statSync(join(builds, name)).isDirectory())
      .sort();

  /** Fails unless all is there that the document and its script name. */
  function assertWhole(name: string): void {
    const page = readFileSync(join(builds, name, 'index.html'), 'utf8');
    const assets = [...page.matchAll(/"\.\/(assets\/[^"]+)"/g)].map(([, path = '']) => path);
    assert.ok(assets.length >= 3, page);
    for (const path of assets) assert.ok(existsSync(join(builds, name, path)), path);
    const script = assets.find((path) => path.endsWith('.js')) ?? '';
    assert.ok(existsSync(join(builds, name, `${script}.br`)) && existsSync(join(builds, name, `${script}.gz`)));
  }

  it('builds once when two are started at the same time', async () => {
    await Promise.all([build(), build()]);
    assert.deepEqual(folders(), [current()]);
    assert.deepEqual(readdirSync(builds).sort(), [current(), 'current'].sort(), 'nothing is left over');
    assertWhole(current());
  });

  it('keeps the build before, which a server may be reading, and no older one', async () => {
    const change = () =>
      appendFileSync(join(copy, 'packages', 'console', 'src', 'styles', 'base.css'), '\n/* changed */\n');
    await build();
    const first = current();
    change();
    await build();
    const second = current();
    assert.notEqual(second, first);
    assert.deepEqual(folders(), [first, second].sort());
    assertWhole(first);
    change();
    await build();
    assert.deepEqual(folders(), [second, current()].sort());
    assertWhole(current());
  });
});
