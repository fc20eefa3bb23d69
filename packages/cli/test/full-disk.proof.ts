import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { type Running, start } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';
import { openSmallDisk, type SmallDisk, whyNoDisk } from './helpers/small-disk.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A server, and what the owner of its demo does with it. */
interface Served {
  readonly url: string;
  readonly server: Running;
  readonly call: (method: string, path: string, body?: Buffer) => Promise<Response>;
}

const readOnly = 'The server accepts no changes: its data is on a read-only file system.';

/** The problem's status, code and detail. */
async function problemOf(response: Response): Promise<readonly [number, string, string]> {
  assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  return [response.status, code, detail];
}

async function statusOf(response: Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

const noExt4 = whyNoDisk('ext4');

describe('tenon where nothing can be written', { skip: whyNoDisk('tmpfs') }, () => {
  let disk: SmallDisk;
  let dataDir: string;
  let elsewhere: Awaited<ReturnType<typeof makeFolder>>;
  let environment: Environment;
  let plugin: Buffer;
  let running: Running | undefined;

  before(async () => {
    elsewhere = await makeFolder();
  });
  after(() => elsewhere.remove());

  beforeEach(() => begin('tmpfs'));
  afterEach(end);

  async function begin(kind: 'tmpfs' | 'ext4'): Promise<void> {
    disk = await openSmallDisk(kind);
    dataDir = join(disk.folder, 'data');
    const { server } = await serve();
    environment = parseEnv(await readFile(disk.outside('data', 'quickstart.env'), 'utf8'));
    const [name = ''] = (await readdir(disk.outside('data', 'blobs'), { recursive: true })).filter((one) =>
      /^..\/.{64}/.test(one),
    );
    plugin = await readFile(disk.outside('data', 'blobs', name));
    await stop(server, 'SIGTERM');
  }

  async function end(): Promise<void> {
    if (running !== undefined) await stop(running, 'SIGKILL');
    await disk.close();
  }

  async function serve(): Promise<Served> {
    const server = start(['serve', '--port', '0', '--json', '--data-dir', dataDir], { within: disk.within });
    running = server;
    let text = '';
    server.child.stdout?.on('data', (chunk: string) => {
      text += chunk;
    });
    await server.says(/\n}\n$/);
    const { url } = JSON.parse(text) as { url: string };
    return {
      url,
      server,
      call: (method, path, body) =>
        fetch(url + path, {
          method,
          headers: {
            authorization: `Bearer ${environment.TENON_TOKEN}`,
            ...(body && { 'content-type': 'application/wasm' }),
          },
          ...(body && { body: new Uint8Array(body) }),
        }),
    };
  }

  async function stop({ child, ended }: Running, signal: NodeJS.Signals): Promise<void> {
    running = undefined;
    disk.run(`kill -${signal.slice(3)} ${child.pid}`); // nsenter has become the server
    await ended;
  }

  const admin = (...args: string[]) => start(['admin', ...args, '--store', dataDir], { within: disk.within }).ended;

  const pluginPath = (name: string) =>
    `/api/v1/artifacts/${environment.TENON_EXTENSION_POINT_ID}/plugin/${environment.TENON_USER_ID}/${name}`;

  /** Writes until nothing more can be written. */
  const fill = () => disk.run('dd if=/dev/zero of=filling bs=1k oflag=append conv=notrunc 2>/dev/null || true');

  /** A publish keeps its bytes from the garbage collector for a while. */
  function endLeases(): void {
    const script = `new (require('node:sqlite').DatabaseSync)('data/tenon.db').exec('update blobs set leaseUntilMs = 0')`;
    disk.run(`'${process.execPath}' -e "${script}"`);
  }

  async function assertReads({ url, call }: Served, ...names: readonly string[]): Promise<void> {
    const { TENON_EXTENSION_POINT_ID: point, TENON_GUEST_KEY: key = '' } = environment;
    const list = await call('GET', `/api/v1/extension-points/${point}/bindings/${encodeURIComponent(key)}`);
    assert.equal(list.status, 200);
    const bindings = (await list.json()) as Record<string, { contentAddress: string }>;
    assert.deepEqual(Object.keys(bindings).sort(), names);
    for (const { contentAddress } of Object.values(bindings)) {
      const bytes = Buffer.from(await (await call('GET', `/api/v1/c/${contentAddress}`)).arrayBuffer());
      assert.equal(createHash('sha256').update(bytes).digest('base64url'), contentAddress);
    }
    const page = await fetch(url);
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    await page.body?.cancel();
  }

  /** @returns the token of a page of the console */
  async function signIn({ url }: Served): Promise<string> {
    const post = async (path: string, body: object, cookie = '') => {
      const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', cookie };
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      assert.ok(response.ok, `${path}: ${response.status}`);
      return response;
    };
    const { TENON_EMAIL: email, TENON_PASSWORD: password } = environment;
    const session = await post('/session', { email, password });
    const cookies = session.headers.getSetCookie().map((line) => line.split(';')[0]);
    return ((await (await post('/session/token', {}, cookies.join('; '))).json()) as { accessToken: string })
      .accessToken;
  }

  async function assertReadyForReads({ url }: Served, reason: RegExp): Promise<void> {
    await sleep(1000); // for so long a store is believed
    const answer = await fetch(`${url}/readyz`);
    const { writes, reason: reported } = (await answer.json()) as { writes: boolean; reason: string };
    assert.deepEqual([answer.status, writes], [200, false]);
    assert.match(reported, reason);
    assert.equal(await statusOf(fetch(`${url}/readyz?for=writes`)), 503);
  }

  async function assertCanBeSaved(name: string): Promise<void> {
    const verified = await admin('verify');
    assert.equal(verified.exitCode, 0, verified.stdout + verified.stderr);
    const audit = await admin('audit');
    assert.equal(audit.exitCode, 0, audit.stderr);
    assert.match(audit.stdout, /published/);
    const copy = join(elsewhere.path, name);
    const copied = await start(['admin', 'copy', '--from', dataDir, '--to', copy], { within: disk.within }).ended;
    assert.equal(copied.exitCode, 0, copied.stderr);
    assert.equal((await start(['admin', 'verify', '--store', copy]).ended).exitCode, 0);
    await rm(copy, { recursive: true });
  }

  /** Publishes the demo's plugin under some names. */
  async function publish({ call }: Served, ...names: readonly string[]): Promise<void> {
    for (const name of names) assert.equal(await statusOf(call('PUT', pluginPath(name), plugin)), 201);
  }

  it('on a full disk, a server reads and deletes, and refuses what takes room', async () => {
    const server = await serve();
    await publish(server, 'a', 'b', 'c');
    const token = await server.call('GET', '/api/v1/tokens');
    const [{ id }] = ((await token.json()) as { objects: [{ id: string }] }).objects;
    fill();
    const full = [507, 'storage_full', "The server's storage is full."];
    assert.deepEqual(await problemOf(await server.call('PUT', pluginPath('d'), plugin)), full);
    await assertReads(server, 'a', 'b', 'c', 'greet');
    assert.equal(await statusOf(server.call('DELETE', pluginPath('a'))), 204);
    fill();
    const headers = { authorization: `Bearer ${await signIn(server)}` };
    assert.equal(await statusOf(fetch(server.url + pluginPath('b'), { method: 'DELETE', headers })), 204);
    fill();
    await assertReadyForReads(server, /metadata store has no room left/);
    assert.deepEqual(await problemOf(await server.call('PUT', pluginPath('d'), plugin)), full);
    await stop(server.server, 'SIGKILL');
    await assertCanBeSaved('full-killed');

    const again = await serve();
    await assertReads(again, 'c', 'greet');
    fill();
    assert.equal(await statusOf(again.call('DELETE', pluginPath('c'))), 204);
    assert.equal(await statusOf(again.call('DELETE', `/api/v1/tokens/${id}`)), 204);
    assert.equal(await statusOf(again.call('GET', '/api/v1/tokens')), 401, 'the token is revoked');
    disk.run('rm filling');
    await sleep(1000); // a failure is believed for so long
    assert.equal(await statusOf(fetch(`${again.url}/readyz?for=writes`)), 200, 'there is room again');
    assert.ok(existsSync(disk.outside('data', 'tenon.db-reserve')), 'and some is kept again');
    await stop(again.server, 'SIGTERM');
  });

  it('on a full disk, what was stopped starts, can be saved, and makes room by garbage collection', async () => {
    const first = await serve();
    await publish(first, 'a');
    const other = Buffer.concat([plugin, Buffer.from([0, 2, 1, 0x6e])]); // with a custom section "n"
    assert.equal(await statusOf(first.call('PUT', pluginPath('b'), other)), 201);
    assert.equal(await statusOf(first.call('DELETE', pluginPath('b'))), 204);
    await stop(first.server, 'SIGTERM');
    endLeases();
    fill();
    await assertCanBeSaved('full-stopped');
    const server = await serve();
    await assertReads(server, 'a', 'greet');
    await assertReadyForReads(server, /no room left/);
    await stop(server.server, 'SIGTERM');
    fill();
    const marked = await admin('gc', '--grace', '1ms');
    assert.equal(marked.exitCode, 0, marked.stderr);
    const collected = await admin('gc', '--grace', '1ms');
    assert.equal(collected.exitCode, 0, collected.stderr);
    const deleted = /deleted +(\d+) content/;
    assert.equal(Number(deleted.exec(marked.stdout)?.[1]) + Number(deleted.exec(collected.stdout)?.[1]), 1);
  });

  it('on a full disk without any kept room, what was stopped can be read alone', async () => {
    const first = await serve();
    await publish(first, 'a');
    await stop(first.server, 'SIGTERM');
    disk.run('rm data/tenon.db-reserve');
    fill();
    await assertCanBeSaved('full-without-reserve');
    const server = await serve();
    await assertReads(server, 'a', 'greet');
    await assertReadyForReads(server, /metadata store has no room left/);
    assert.equal((await problemOf(await server.call('DELETE', pluginPath('a'))))[1], 'storage_full');
    // Another process that finds room changes what this one has taken for unchangeable.
    disk.run('rm filling');
    const other = await serve();
    assert.equal(await statusOf(other.call('DELETE', pluginPath('a'))), 204);
    assert.equal(await statusOf(fetch(`${server.url}/readyz`)), 503);
    const { TENON_EXTENSION_POINT_ID: point, TENON_GUEST_KEY: key = '' } = environment;
    const path = `/api/v1/extension-points/${point}/bindings/${encodeURIComponent(key)}`;
    assert.equal(await statusOf(server.call('GET', path)), 503);
    await stop(other.server, 'SIGKILL');
    running = server.server;
  });

  for (const [signal, state] of [
    ['SIGTERM', 'stopped'],
    ['SIGKILL', 'killed'],
  ] as const) {
    it(`on a read-only file system, a server that was ${state} starts, reads, and can be saved`, async () => {
      const first = await serve();
      await publish(first, 'a', 'b');
      // Bytes of its own, which the garbage collector is to delete.
      const withEmptySection = Buffer.concat([plugin, Buffer.from([0, 1, 0])]);
      assert.equal(await statusOf(first.call('PUT', pluginPath('deleted'), withEmptySection)), 201);
      assert.equal(await statusOf(first.call('DELETE', pluginPath('deleted'))), 204);
      endLeases();
      await stop(first.server, signal);
      disk.run('mount -o remount,bind,ro .');
      await assertCanBeSaved(`read-only-${state}`);
      const collect = await admin('gc');
      assert.deepEqual(
        [collect.exitCode, collect.stderr],
        [6, `store  folder ${dataDir}\nerror: Cannot write to the database: its file system is read-only.\n`],
      );
      const server = await serve();
      await assertReads(server, 'a', 'b', 'greet');
      await assertReadyForReads(
        server,
        /metadata store is on a read-only file system; the blob store is on a read-only file system/,
      );
      for (const [method, body] of [['PUT', plugin], ['DELETE']] as const) {
        const refused = await problemOf(await server.call(method, pluginPath('a'), body));
        assert.deepEqual(refused, [503, 'unavailable', readOnly]);
      }
      await stop(server.server, 'SIGTERM');
    });
  }

  it('a server goes on reading when its file system is made read-only after an error', { skip: noExt4 }, async () => {
    await end();
    await begin('ext4');
    const server = await serve();
    await publish(server, 'a');
    disk.run('mount -o remount,abort .'); // as ext4 does itself: https://www.kernel.org/doc/html/latest/admin-guide/ext4.html
    await assertReads(server, 'a', 'greet');
    await assertReadyForReads(server, /metadata store is on a read-only file system/);
    for (const [method, body] of [['PUT', plugin], ['DELETE']] as const) {
      const refused = await problemOf(await server.call(method, pluginPath('a'), body));
      assert.deepEqual(refused, [503, 'unavailable', readOnly]);
    }
  });

  it('on a read-only file system without data, it says so in one line', async () => {
    disk.run('rm -r data && mkdir data && mount -o remount,bind,ro .');
    const { exitCode, stderr } = await start(['serve', '--port', '0', '--data-dir', dataDir], { within: disk.within })
      .ended;
    assert.equal(exitCode, 2);
    assert.match(stderr, /^error: Cannot use the data folder .+: the file system is read-only\.$/m);
  });
});
