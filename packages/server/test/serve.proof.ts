import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { newId, type UserId } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { openSqliteStore } from '../src/db/sqlite/store.ts';
import { statements } from '../src/queries.ts';
import { openIssuer } from './helpers/oidc-issuer.ts';
import { auditEvent, createRecords } from './helpers/records.ts';
import { connectTo, readAnswer, requestOf } from './helpers/wire.ts';
import { sampleModule } from './helpers/world.ts';

const script = fileURLToPath(new URL('./helpers/serve-child.ts', import.meta.url));

/** Sends the process SIGTERM as soon as it listens, which is before all is made that a start makes: */
const listeningFirst = asModule(
  `import { channel } from 'node:diagnostics_channel';
  channel('tracing:net.server.listen:asyncEnd').subscribe(() => process.kill(process.pid, 'SIGTERM'));`,
);
/** and this one does as soon as the first of its workers listens. */
const workerFirst = asModule(
  `import cluster from 'node:cluster';
  cluster.once('listening', () => process.kill(process.pid, 'SIGTERM'));`,
);

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  readonly output: () => string;
  readonly log: () => string;
}

describe('serve()', () => {
  let dataDir: string;
  const children: ChildProcess[] = [];
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tenon-serve-'));
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  function run(environment: Readonly<Record<string, string>>): Omit<Served, 'url'> {
    const child = spawn(process.execPath, [script, environment.TENON_DATA_DIR ?? dataDir], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let output = '';
    let log = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    return { child, output: () => output, log: () => log };
  }

  async function start(environment: Record<string, string> = {}): Promise<Served> {
    const { child, output, log } = run(environment);
    while (!output().includes('\n')) {
      await Promise.race([once(child.stdout as Readable, 'data'), once(child, 'exit')]);
      assert.equal(child.exitCode, null, log());
    }
    return { child, url: output().trim(), output, log };
  }

  async function stop({ child }: Served, signal: NodeJS.Signals): Promise<number | null> {
    const exited = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
    child.kill(signal);
    await exited;
    return child.exitCode;
  }

  const quickstart = async () =>
    parseEnv(await readFile(join(dataDir, 'quickstart.env'), 'utf8')) as Record<string, string>;

  it('serves the data of an earlier start, and ends on SIGTERM and on SIGINT', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
      const served = await start();
      const { TENON_TOKEN, TENON_URL } = await quickstart();
      assert.equal(TENON_URL, served.url);
      const me = await fetch(`${served.url}/api/v1/me`, { headers: { authorization: `Bearer ${TENON_TOKEN}` } });
      assert.equal(me.status, 200);
      assert.equal(await stop(served, signal), 0, served.log());
      assert.match(served.output(), /closed/);
      for (const line of served.log().trim().split('\n')) assert.ok(JSON.parse(line).level <= 30, line);
      assert.ok(!served.log().includes(String(TENON_TOKEN)));
    }
  });

  it('deletes records that expired a week ago, and keeps newer ones', async () => {
    const store = await openSqliteStore(statements, { file: join(dataDir, 'tenon.db') });
    const { TENON_USER_ID } = await quickstart();
    const user = await store.read.user(TENON_USER_ID as UserId);
    assert.ok(user);
    const dayMs = 24 * 3_600_000;
    const [old, recent] = await Promise.all(
      [8, 6].map((days) => createRecords(store).session(user, { expiresAtMs: Date.now() - days * dayMs })),
    );
    assert.ok(old && recent);
    await stop(await start(), 'SIGTERM');
    assert.equal(await store.read.session(old.id), undefined);
    assert.deepEqual(await store.read.session(recent.id), recent);
    await store.close();
  });

  it('deletes audit events after their retention', async (t) => {
    // Retention deletes the oldest part of the chain of events, so no newer event may be before them.
    const TENON_DATA_DIR = await mkdtemp(join(tmpdir(), 'tenon-retention-'));
    t.after(() => rm(TENON_DATA_DIR, { recursive: true }));
    const file = join(TENON_DATA_DIR, 'tenon.db');
    const store = await openSqliteStore(statements, { file });
    const [appId, dayMs] = [newId('app'), 24 * 3_600_000];
    const [old, recent] = [8, 6].map((days) => auditEvent({ appId, atMs: Date.now() - days * dayMs }));
    assert.ok(old && recent);
    await store.write(async (tx) => {
      for (const event of [old, recent]) await tx.insertAuditEvent(event);
    });
    const left = async () => (await store.read.auditOfApp(appId, {}, { limit: 9 })).map(({ id }) => id);
    await stop(await start({ TENON_DATA_DIR }), 'SIGTERM');
    assert.deepEqual(await left(), [recent.id, old.id], 'for good, when nothing is said');
    await stop(await start({ TENON_DATA_DIR, TENON_TIMES: 'audit=7d' }), 'SIGTERM');
    assert.deepEqual(await left(), [recent.id]);
    await store.close();
  });

  it('finishes requests in flight and writes the uses of tokens before it ends, without waiting for clients to close', async () => {
    const served = await start({ TENON_TIMES: 'shutdown=1h' });
    const { TENON_TOKEN, TENON_USER_ID, TENON_EXTENSION_POINT_ID } = await quickstart();
    const socket = connectTo(served.url);
    const path = `/api/v1/artifacts/${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}/slow`;
    const lines = [
      `PUT ${path} HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${TENON_TOKEN}`,
      'content-type: application/wasm',
      `content-length: ${sampleModule.length}`,
    ];
    socket.write(requestOf(lines, sampleModule.subarray(0, 100)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const stopped = stop(served, 'SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await assert.rejects(fetch(`${served.url}/healthz`), 'nothing new is accepted');
    socket.write(sampleModule.subarray(100));
    assert.equal((await readAnswer(socket)).status, 201);
    assert.equal(await stopped, 0, served.log());

    const again = await start();
    const me = await fetch(`${again.url}/api/v1/me`, { headers: { authorization: `Bearer ${TENON_TOKEN}` } });
    const { token } = (await me.json()) as { token: { lastUsedAt: string | null } };
    assert.notEqual(token.lastUsedAt, null);
    await stop(again, 'SIGTERM');
  });

  for (const [who, settings, preload] of [
    ['one process', {}, listeningFirst],
    ['two workers', { TENON_WORKERS: '2' }, workerFirst],
  ] as const) {
    it(`ends ${who} gracefully on a signal from the first response on, even during the start`, async () => {
      const { child, output, log } = run({ ...settings, NODE_OPTIONS: `--import ${preload}` });
      const [code, signal] = await once(child, 'exit');
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, log());
      assert.match(output(), /closed/);
      assert.match(log(), /"stopping".*"listening".*"stopped"/s);
    });
  }

  it('closes connections that exceed the shutdown time', async () => {
    const served = await start({ TENON_TIMES: 'shutdown=300ms' });
    const { TENON_API_KEY } = await quickstart();
    const socket = connectTo(served.url);
    socket.on('error', () => {});
    const lines = ['POST /instrument HTTP/1.1', 'host: x', `authorization: Bearer ${TENON_API_KEY}`];
    socket.write(requestOf([...lines, 'content-type: multipart/form-data; boundary=b', 'content-length: 1000'], 'x'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const started = performance.now();
    assert.equal(await stop(served, 'SIGTERM'), 0);
    assert.ok(performance.now() - started < 10_000);
  });

  it('sees changes of another process in the same folder', async () => {
    const [one, two] = [await start(), await start()];
    const { TENON_TOKEN } = await quickstart();
    const call = (url: string, method: string, path: string, token: string | undefined, body?: object) =>
      fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      });
    const created = await call(one.url, 'POST', '/tokens', TENON_TOKEN, { name: 'shared' });
    const { id, token } = (await created.json()) as { id: string; token: string };
    for (let time = 0; time < 3; time++) assert.equal((await call(two.url, 'GET', '/me', token)).status, 200);
    assert.equal((await call(one.url, 'DELETE', `/tokens/${id}`, TENON_TOKEN)).status, 204);
    assert.equal((await call(two.url, 'GET', '/me', token)).status, 401);
    await Promise.all([stop(one, 'SIGTERM'), stop(two, 'SIGTERM')]);
  });

  it('keeps the URL of another server with the folder lock in quickstart.env', async () => {
    const first = await start();
    assert.equal((await quickstart()).TENON_URL, first.url);
    const second = await start();
    assert.equal((await quickstart()).TENON_URL, first.url);
    assert.match(second.log(), /another server holds this data folder/);
    await stop(second, 'SIGTERM');
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const third = await start();
    assert.equal((await quickstart()).TENON_URL, third.url, 'a killed server holds nothing');
    await stop(third, 'SIGTERM');
  });

  it('warns if passwords are off and no sign-in provider works, and only then', async () => {
    const issuer = await openIssuer();
    const own = await mkdtemp(join(tmpdir(), 'tenon-providers-'));
    const path = join(own, 'providers.json');
    const provider = (id: string, url: string) => ({ id, label: id, issuer: url, clientId: 'tenon' });
    const down = provider('down', 'http://127.0.0.1:1');
    const warning = /password sign-in is off, and no sign-in provider works/;
    const logOf = async (file: object): Promise<string> => {
      await writeFile(path, JSON.stringify(file), { mode: 0o600 });
      const served = await start({ TENON_SIGN_IN_PROVIDERS: path, TENON_DATA_DIR: await mkdtemp(join(own, 'data-')) });
      const requests = issuer.requests.length;
      const isDone = () => warning.test(served.log()) || issuer.requests.length > requests;
      if ('passwordSignIn' in file) await until(isDone);
      await stop(served, 'SIGTERM');
      return served.log();
    };
    try {
      const log = await logOf({ passwordSignIn: false, providers: [down, provider('other', 'http://127.0.0.1:2')] });
      assert.match(log, warning);
      assert.match(log, /provider down is not available[^\]]*provider other is not available/);
      assert.doesNotMatch(
        await logOf({ passwordSignIn: false, providers: [down, provider('up', issuer.url)] }),
        warning,
      );
      assert.doesNotMatch(await logOf({ providers: [down] }), warning);
    } finally {
      await issuer.close();
      await rm(own, { recursive: true, force: true });
    }
  });

  it('warns about unknown variables', async () => {
    const served = await start({ TENON_PROT: '1' });
    assert.match(served.log(), /TENON_PROT is not a setting of this version; did you mean TENON_PORT\?/);
    await stop(served, 'SIGTERM');
  });
});

function asModule(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
