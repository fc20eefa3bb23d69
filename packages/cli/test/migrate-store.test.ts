import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig, type RunningServer, serve } from '@tenon/server';
import { makeFolder, startServer, type TestServer } from './helpers/server.ts';
import { tenon } from './helpers/streams.ts';

describe('tenon admin migrate-store', () => {
  let server: TestServer;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  before(async () => {
    server = await startServer();
    folder = await makeFolder();
    await writeFile(join(folder.path, 'new.env'), `TENON_DATA_DIR=${join(folder.path, 'new')}\nTENON_PORT=1234\n`);
  });
  after(async () => {
    await server.stop();
    await folder.remove();
  });

  const migrate = (...args: string[]) =>
    tenon(['admin', 'migrate-store', ...args], { environment: { TENON_DATA_DIR: server.dataDir } });
  const target = () => join(folder.path, 'new.env');

  const startOn = (dataDir: string) =>
    serve(loadConfig({ dataDir, port: '0', host: '127.0.0.1', logLevel: 'silent' }, {}));

  async function list(at: Pick<RunningServer, 'url'>) {
    const { TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY = '' } = server.environment;
    const path = `/api/v1/extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(TENON_GUEST_KEY)}`;
    const response = await fetch(at.url + path, { headers: { authorization: `Bearer ${TENON_TOKEN}` } });
    return { status: response.status, body: await response.text(), etag: response.headers.get('etag') };
  }

  /** The status of a change. */
  async function change(at: Pick<RunningServer, 'url'>): Promise<number> {
    const { TENON_TOKEN, TENON_APP_ID } = server.environment;
    const response = await fetch(`${at.url}/api/v1/apps/${TENON_APP_ID}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${TENON_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Renamed' }),
    });
    return response.status;
  }

  it('says what is missing, and takes nothing else for it', async () => {
    for (const args of [[], ['--to', 'x.env', '--thaw'], ['--to', target(), '--force'], ['--thaw', '--verify']]) {
      const outcome = await migrate(...args);
      assert.equal(outcome.exitCode, 2, args.join(' '));
    }
    const none = await migrate('--to', join(folder.path, 'none.env'));
    assert.equal(none.exitCode, 1);
    assert.match(none.stderr, /none\.env/);
    const same = join(folder.path, 'same.env');
    await writeFile(same, `TENON_DATA_DIR=${server.dataDir}\n`);
    assert.match((await migrate('--to', same)).stderr, /the same store/);
    const mistyped = join(folder.path, 'mistyped.env');
    await writeFile(mistyped, 'TENON_DATABASE_URI=postgresql://127.0.0.1/tenon\n');
    const nowhere = await migrate('--to', mistyped);
    assert.equal(nowhere.exitCode, 2);
    assert.match(nowhere.stderr, /name no store/);
    assert.equal(await change(server), 200);
  });

  it('moves a server at work, leaves it frozen, and tells what to do next', async () => {
    const before = await list(server);
    assert.equal(before.status, 200);
    const outcome = await migrate('--to', target(), '--verify');
    assert.equal(outcome.exitCode, 0, outcome.stderr);
    assert.match(outcome.stdout, /plugins +1 content,/);
    assert.match(outcome.stderr, /start them with the settings of .*new\.env/);

    assert.deepEqual(await list(server), before);
    assert.equal(await change(server), 503);
    const there = await startOn(join(folder.path, 'new'));
    assert.deepEqual(await list(there), before);
    assert.equal(await change(there), 200);
    await there.close();
  });

  it('a server that is started on what was left behind answers, and takes no changes', async () => {
    const again = await startOn(server.dataDir);
    assert.equal((await list(again)).status, 200);
    assert.equal(await change(again), 503);
    assert.equal((await fetch(`${again.url}/readyz`)).status, 200);
    await again.close();
  });

  it('thaws what was moved only when it is told twice', async () => {
    const once = await migrate('--thaw');
    assert.equal(once.exitCode, 5);
    assert.match(once.stderr, /--thaw --force/);
    assert.equal(await change(server), 503);
    const twice = await migrate('--thaw', '--force', '--json');
    assert.deepEqual([twice.exitCode, JSON.parse(twice.stdout)], [0, { wasFrozen: true }]);
    assert.equal(await change(server), 200);
    assert.deepEqual(JSON.parse((await migrate('--thaw', '--json')).stdout), { wasFrozen: false });
  });
});
