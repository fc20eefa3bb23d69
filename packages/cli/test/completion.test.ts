import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { completionScripts } from '../src/completion-scripts.ts';
import { run } from '../src/run.ts';
import { makeFolder } from './helpers/folder.ts';
import { createIo, type Setting, tenon } from './helpers/streams.ts';

let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let setting: Setting;

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
  const { TENON_URL, TENON_TOKEN } = server.quickstart;
  setting = { environment: { TENON_URL, TENON_TOKEN, HOME: folder.path }, workingFolder: folder.path };
  assert.equal((await tenon(['app', 'create', 'Acme Editor'], setting)).exitCode, 0);
});

after(async () => {
  await server.stop();
  await folder.remove();
});

/** The values that are offered for the last word. */
async function offered(words: readonly string[], given: Setting = setting): Promise<string[]> {
  const { exitCode, stdout, stderr } = await tenon(['completion', '--', ...words], given);
  assert.deepEqual([exitCode, stderr], [0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] as string);
}

describe('tenon completion -- <words>', () => {
  it('offers commands, with what they do', async () => {
    assert.deepEqual(await offered(['pl']), ['plugin']);
    assert.deepEqual(await offered(['help', 'plugin', 'pus']), ['push']);
    assert.deepEqual(await offered(['ext', 'u']), ['update']);
    assert.match((await tenon(['completion', '--', 'who'], setting)).stdout, /^whoami\tshow your account/);
  });

  it('offers options, and their choices', async () => {
    assert.deepEqual(await offered(['instrument', 'a.wasm', '--dry']), ['--dry-run']);
    assert.deepEqual(await offered(['trace', 'a.wasm', '--format', 'sp']), ['speedscope']);
    assert.deepEqual(await offered(['trace', '--format=sp']), ['--format=speedscope']);
    assert.deepEqual(await offered(['app', 'member', 'invite', '--app', 'x', '']), ['owner', 'admin', 'viewer']);
    assert.ok((await offered(['whoami', ''])).includes('--json'));
    assert.deepEqual(await offered(['trace', 'a.wasm', '--', '--']), []);
  });

  it('offers names of the server', async () => {
    const { TENON_APP_ID: app = '', TENON_GUEST_KEY: guestKey = '' } = server.quickstart;
    assert.deepEqual((await offered(['app', 'show', '--app', ''])).sort(), ['Acme Editor', 'Demo']);
    const ids = await offered(['extension-point', 'show', '-e', '']);
    assert.equal(ids.length, 1);
    assert.deepEqual(await offered(['guest', 'remove', '--app', 'Acme Editor', '']), []);
    assert.deepEqual(await offered(['plugin', 'status', 'gr']), ['greet']);
    assert.deepEqual(await offered(['plugin', 'yank', '--reason', 'x', '']), ['greet@']);
    assert.deepEqual(await offered(['plugin', 'yank', 'greet@']), ['greet@1']);
    assert.deepEqual(await offered(['plugin', 'yank', 'absent@']), []);
    assert.deepEqual(await offered(['guest', 'remove', '--app', app, '']), [guestKey]);
    assert.deepEqual(await offered(['webhook', 'show', '--app', app, '']), []);
    const webhook = await tenon(['webhook', 'create', 'https://hooks.example.org/a', '--app', app, '--json'], setting);
    const { id } = webhook.json();
    assert.deepEqual(await offered(['webhook', 'show', '--app', app, 'whk_']), [id]);
    assert.deepEqual(await offered(['webhook', 'replay', '--app', app, '']), [id]);
    assert.deepEqual(await offered(['webhook', 'show', '--app', 'Acme Editor', '']), []);
  });

  it('offers logins', async () => {
    const config = join(folder.path, 'config');
    const login = {
      url: server.url,
      token: 'tnn_x',
      scopes: ['read'],
      expiresAt: '2030-01-01T00:00:00.000Z',
      user: { id: 'usr_x', name: 'A', email: null },
    };
    await mkdir(config);
    const text = JSON.stringify({ version: 1, current: null, profiles: { work: login } });
    await writeFile(join(config, 'credentials.json'), text, { mode: 0o600 });
    const given = { ...setting, environment: { TENON_CONFIG_DIR: config } };
    for (const words of [
      ['profile', 'use', ''],
      ['whoami', '--profile', 'w'],
      ['whoami', '--server', ''],
    ]) {
      assert.deepEqual(await offered(words, given), ['work'], words.join(' '));
    }
  });

  it('offers an id in place of a name that several have', async (t) => {
    const made = await Promise.all(
      ['Twin', 'Twin'].map(async (name) => (await tenon(['app', 'create', name], setting)).stdout.trim()),
    );
    t.after(() => Promise.all(made.map((id) => tenon(['app', 'delete', '--yes', '--app', id], setting))));
    assert.deepEqual((await offered(['app', 'show', '--app', 'app_'])).sort(), made.sort());
  });

  it('offers no name that has control characters', async () => {
    const { io, stdout } = createIo(setting);
    const evil = async (...request: Parameters<typeof fetch>) =>
      new Response((await (await fetch(...request)).text()).replace('"Demo"', '"De\\u001b[31mmo"'));
    assert.equal(await run(['completion', '--', 'app', 'show', '--app', ''], { ...io, fetch: evil }), 0);
    assert.match(stdout.text, /^Acme Editor\tapp_\w+\n$/);
  });

  it('offers nothing when anything fails', async () => {
    const words = ['app', 'show', '--app', ''];
    const { TENON_URL } = server.quickstart;
    for (const environment of [
      {},
      { TENON_URL, TENON_TOKEN: 'tnn_wrong' },
      { TENON_URL: 'http://127.0.0.1:1', TENON_TOKEN: 'tnn_x' },
      { TENON_URL: 'nonsense' },
    ]) {
      assert.deepEqual(await offered(words, { ...setting, environment }), []);
    }
    assert.deepEqual(await offered(['no', 'such', 'command']), []);
    assert.deepEqual(await offered([]), await offered(['']));
  });
});

describe('tenon completion', () => {
  it('refuses a shell that it does not know', async () => {
    const { exitCode, stderr } = await tenon(['completion', 'tcsh'], setting);
    assert.equal(exitCode, 2);
    assert.match(stderr, /bash, zsh, fish/);
  });

  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const isAbsent = spawnSync(shell, ['--version']).error !== undefined;
    it(`writes a script that ${shell} reads`, { skip: isAbsent && `${shell} is not installed` }, () => {
      const { status, stderr } = spawnSync(shell, ['-n'], { input: completionScripts[shell], encoding: 'utf8' });
      assert.deepEqual([status, stderr], [0, '']);
    });
  }
});
