import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { loadConfig, type RunningServer, serve } from '@tenon/server';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';

describe('tenon admin copy', () => {
  let server: InProcessServer;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  before(async () => {
    server = await startInProcessServer();
    folder = await makeFolder();
  });
  after(async () => {
    await server.stop();
    await folder.remove();
  });

  const inFolder = (name: string) => join(folder.path, name);
  const copy = (...args: string[]) =>
    tenon(['admin', 'copy', ...args], { environment: { TENON_DATA_DIR: server.dataDir } });

  async function withServerOn(dataDir: string, work: (url: string) => Promise<void>): Promise<void> {
    const running = await serve(loadConfig({ dataDir, port: '0', host: '127.0.0.1', logLevel: 'silent' }, {}));
    try {
      await work(running.url);
    } finally {
      await running.close();
    }
  }

  async function list(at: Pick<RunningServer, 'url'>) {
    const { TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY = '' } = server.quickstart;
    const path = `/api/v1/extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(TENON_GUEST_KEY)}`;
    const response = await fetch(at.url + path, { headers: { authorization: `Bearer ${TENON_TOKEN}` } });
    return { status: response.status, body: await response.text(), etag: response.headers.get('etag') };
  }

  it('copies the store of a running server to a folder, and on by a file of settings', async () => {
    const seen = await list(server);
    assert.equal(seen.status, 200);
    const backedUp = await copy('--to', inFolder('backup'));
    assert.equal(backedUp.exitCode, 0, backedUp.stderr);
    assert.match(backedUp.stdout, /^metadata +\d+ rows of \d+ tables\nplugins +1 content, /);
    assert.match(backedUp.stderr, /The copy is verified/);
    await writeFile(inFolder('new.env'), `TENON_DATA_DIR=${inFolder('new')}\nTENON_PORT=1234\n`);
    const restored = await copy('--from', inFolder('backup'), '--to', inFolder('new.env'), '--json');
    assert.equal(restored.exitCode, 0, restored.stderr);
    assert.deepEqual([restored.json().contents, restored.json().rows.versions], [1, 1]);
    await withServerOn(inFolder('new'), async (url) => assert.deepEqual(await list({ url }), seen));
    assert.equal((await tenon(['admin', 'verify', '--store', inFolder('backup')])).exitCode, 0);
    assert.deepEqual(await list(server), seen);
  });

  it('shows how far it is on a terminal', async (t) => {
    t.mock.method(
      performance,
      'now',
      (() => {
        let nowMs = 0;
        return () => (nowMs += 1000);
      })(),
    );
    const setting = { environment: { TENON_DATA_DIR: server.dataDir }, isTerminal: true };
    const { stderr } = await tenon(['admin', 'copy', '--to', inFolder('shown')], setting);
    assert.match(stderr, /Copying [━─]+ +\d+ %/);
    assert.match(stderr, /Verifying [━─]+ +\d+ %/);
  });

  it('copies no secret of quickstart.env', async () => {
    await copy('--to', inFolder('secrets'));
    await assert.rejects(stat(join(inFolder('secrets'), 'quickstart.env')), { code: 'ENOENT' });
    const bytes = await readFile(join(inFolder('secrets'), 'tenon.db'));
    const secrets = parseEnv(await readFile(join(server.dataDir, 'quickstart.env'), 'utf8'));
    for (const name of ['TENON_TOKEN', 'TENON_API_KEY', 'TENON_PASSWORD']) {
      assert.ok((secrets[name] ?? '').length > 10, name);
      assert.ok(!bytes.includes(secrets[name] ?? ''), name);
    }
  });

  it('no server and no command opens an unfinished copy, until the same command has finished it', async () => {
    const dataDir = inFolder('unfinished');
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const args = ['admin', 'copy', '--from', server.dataDir, '--to', dataDir];
    const ended = await tenon(args, { signal: controller.signal });
    assert.notEqual(ended.exitCode, 0);
    for (const command of [
      ['serve', '--port', '0', '--log-level', 'silent', '--data-dir'],
      ['admin', 'verify', '--store'],
      ['admin', 'user', 'create', 'Ada', '--store'],
    ]) {
      const { exitCode, stderr } = await tenon([...command, dataDir]);
      assert.deepEqual([exitCode, /is an unfinished copy/.test(stderr)], [5, true], stderr);
      assert.match(stderr, /Run the same "tenon admin copy" again/);
    }
    assert.equal((await tenon(args)).exitCode, 0);
    assert.equal((await tenon(['admin', 'verify', '--store', dataDir])).exitCode, 0);
  });

  it('says what is wrong with a store, and changes nothing', async () => {
    await writeFile(inFolder('same.env'), `TENON_DATA_DIR=${server.dataDir}\n`);
    await writeFile(inFolder('mistyped.env'), 'TENON_DATABASE_URI=postgresql://127.0.0.1/tenon\n');
    const cases: readonly [readonly string[], number, RegExp][] = [
      [[], 2, /--from, --to/],
      [['--to', inFolder('none.env')], 1, /none\.env/],
      [['--to', inFolder('same.env')], 2, /same database, folder or bucket/],
      [['--to', inFolder('mistyped.env')], 2, /name no store/],
      [['--from', inFolder('nowhere'), '--to', inFolder('a')], 4, /Cannot read a store at the source/],
      [['--to', folder.path], 5, /not empty/],
    ];
    for (const [args, exitCode, message] of cases) {
      const outcome = await copy(...args);
      assert.equal(outcome.exitCode, exitCode, args.join(' '));
      assert.match(outcome.stderr, message);
    }
    for (const name of ['a', 'nowhere', 'none.env']) await assert.rejects(stat(inFolder(name)), { code: 'ENOENT' });
    const refused = await copy('--to', folder.path, '--json');
    assert.equal(JSON.parse(refused.stderr).error.code, 'not_empty');
  });
});
