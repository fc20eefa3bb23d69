import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { browserOpeners, canOpenBrowser, openBrowser } from './browser.ts';

describe('canOpenBrowser()', () => {
  for (const [platform, environment, expected] of [
    ['darwin', {}, true],
    ['win32', {}, true],
    ['linux', {}, false],
    ['linux', { DISPLAY: ':0' }, true],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
    ['linux', { WSL_DISTRO_NAME: 'Ubuntu' }, true],
    ['linux', { BROWSER: 'firefox' }, true],
    ['linux', { DISPLAY: '' }, false],
    ['linux', { DISPLAY: 'localhost:10.0', SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, false],
    ['darwin', { SSH_TTY: '/dev/ttys001' }, false],
  ] as const) {
    it(`is ${expected} on ${platform} with ${JSON.stringify(environment)}`, () => {
      assert.equal(canOpenBrowser(environment, platform), expected);
    });
  }
});

describe('browserOpeners()', () => {
  it("prefers BROWSER's programs, then asks the platform", () => {
    assert.deepEqual(browserOpeners({ BROWSER: `firefox${delimiter}lynx` }, 'linux'), [
      ['firefox'],
      ['lynx'],
      ['xdg-open'],
    ]);
    assert.deepEqual(browserOpeners({}, 'darwin'), [['/usr/bin/open']]);
    assert.deepEqual(browserOpeners({ SystemRoot: 'D:\\Windows' }, 'win32'), [
      ['D:\\Windows\\System32\\rundll32.exe', 'url.dll,FileProtocolHandler'],
    ]);
    assert.equal(browserOpeners({ WSL_DISTRO_NAME: 'Ubuntu' }, 'linux')[0]?.[0], 'wslview');
  });
});

describe('openBrowser()', { skip: process.platform === 'win32' }, () => {
  let folder: string;
  const url = 'https://plugins.example.org/a?b=$(touch hacked)&c=`id`;"\'|>x#%20';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-browser-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function program(name: string, script: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return file;
  }

  it('hands the URL over as one argument, which no shell reads, and no token with it', async () => {
    const seen = join(folder, 'seen');
    const BROWSER = await program('records', `printf '%s\\n' "$#" "$1" "\${TENON_TOKEN-none}" > '${seen}'`);
    await openBrowser(url, { PATH: process.env.PATH, BROWSER, TENON_TOKEN: 'tnn_x' }, 'linux');
    assert.equal(await readFile(seen, 'utf8'), `1\n${url}\nnone\n`);
  });

  it('tries the next program when one is not there, or fails', async () => {
    const seen = join(folder, 'second');
    const fails = await program('fails', 'exit 3');
    const works = await program('works', `echo here > '${seen}'`);
    const BROWSER = [join(folder, 'absent'), fails, works].join(delimiter);
    await openBrowser(url, { PATH: folder, BROWSER }, 'linux');
    assert.equal(await readFile(seen, 'utf8'), 'here\n');
  });

  it('rejects when none works', async () => {
    await assert.rejects(openBrowser(url, { PATH: folder }, 'linux'), { code: 'ENOENT' });
  });

  it('opens pages of the web alone', async () => {
    const BROWSER = await program('never', `touch '${join(folder, 'opened')}'`);
    for (const other of ['file:///etc/passwd', '-version', 'javascript:alert(1)', 'calculator:']) {
      await assert.rejects(openBrowser(other, { PATH: process.env.PATH, BROWSER }, 'linux'), /No page of the web/);
    }
    await assert.rejects(readFile(join(folder, 'opened')), { code: 'ENOENT' });
  });
});
