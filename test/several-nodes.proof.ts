import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { noPostgres, type PostgresServer, startPostgres } from '../packages/server/test/helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from '../packages/server/test/helpers/s3.ts';
import { type RunningServer, startServer, tenon, withoutTenon } from './helpers/server.ts';

describe('tenon serve on PostgreSQL and an object store', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let settings: Readonly<Record<string, string>>;
  let first: RunningServer;

  before(async () => {
    [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    const { url } = await postgres.createDatabase();
    const { bucket, endpoint = '', credentials } = objects.options('plugins');
    settings = {
      TENON_DATABASE_URL: url,
      TENON_S3_BUCKET: bucket,
      TENON_S3_ENDPOINT: endpoint,
      TENON_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
      TENON_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
    };
    first = await startServer({ settings });
  });
  after(async () => {
    await first.stop();
    postgres.stop();
    await objects.stop();
  });

  /** A host's two calls to a node, with the demo's token. */
  async function asHost(url: string): Promise<{ readonly etag: string | null; readonly bytes: number }> {
    const { TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY = '' } = first.quickstart;
    const headers = { authorization: `Bearer ${TENON_TOKEN}` };
    const path = `/api/v1/extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(TENON_GUEST_KEY)}`;
    const list = await fetch(url + path, { headers });
    assert.equal(list.status, 200);
    const [binding] = Object.values((await list.json()) as Record<string, { contentAddress: string }>);
    const content = await fetch(`${url}/api/v1/c/${binding?.contentAddress}`, { headers });
    assert.equal(content.status, 200);
    return { etag: list.headers.get('etag'), bytes: (await content.bytes()).length };
  }

  /** Runs the command line with a node's settings. Its stores are in this process, which must not stand still meanwhile. */
  function run(args: readonly string[], changes: Readonly<Record<string, string>> = {}) {
    const env = { ...withoutTenon(process.env), ...settings, ...changes };
    return new Promise<{ readonly status: unknown; readonly stderr: string }>((resolve) => {
      execFile(process.execPath, [tenon, ...args], { cwd: first.folder, env }, (error, _, stderr) =>
        resolve({ status: error === null ? 0 : error.code, stderr }),
      );
    });
  }

  it('keeps nothing but quickstart.env and its lock in its folder', async () => {
    assert.deepEqual(await readdir(join(first.folder, 'tenon-data')), ['quickstart.env', 'server.lock']);
  });

  it('serves the same from a second node, which makes no demo of its own', async () => {
    const second = await startServer({ settings });
    try {
      assert.equal(second.quickstart.TENON_TOKEN, undefined);
      assert.deepEqual(await asHost(second.quickstart.TENON_URL ?? ''), await asHost(first.quickstart.TENON_URL ?? ''));
    } finally {
      await second.stop();
    }
    assert.ok(
      (await asHost(first.quickstart.TENON_URL ?? '')).bytes > 0,
      'the first goes on when the second has ended',
    );
  });

  it('touches no folder without a demo', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-untouched-'));
    const env = { ...withoutTenon(process.env), ...settings, TENON_PORT: '0' };
    const child = spawn(process.execPath, [tenon, 'serve', '--no-demo', '--json'], { cwd: folder, env });
    const [line] = await once(createInterface(child.stdout), 'line');
    const stopped = once(child, 'exit');
    child.kill('SIGTERM');
    await stopped;
    assert.equal(line, '{');
    assert.deepEqual(await readdir(folder), []);
    await rm(folder, { recursive: true });
  });

  it('makes no folder for commands that keep nothing in one', async () => {
    const folder = join(first.folder, 'of-no-use');
    const { status, stderr } = await run(['admin', 'operator', 'list'], { TENON_DATA_DIR: folder });
    assert.equal(status, 0, stderr);
    await assert.rejects(stat(folder), { code: 'ENOENT' });
  });

  it('says in a line which database or bucket can not be used', async () => {
    const wrong: readonly (readonly [string[], Record<string, string>, RegExp])[] = [
      [
        ['serve', '--port', '0'],
        { TENON_DATABASE_URL: postgres.url('nowhere') },
        /^error: .*"nowhere" does not exist/m,
      ],
      [['admin', 'verify'], { TENON_S3_BUCKET: 'nowhere' }, /^error: .*NoSuchBucket/m],
    ];
    for (const [args, changes, words] of wrong) {
      const { status, stderr } = await run(args, changes);
      assert.equal(status, 2, stderr);
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /^ +at /m);
    }
  });

  it('is verified, and collected from, by the command line', async () => {
    for (const args of [
      ['admin', 'verify'],
      ['admin', 'gc', '--dry-run'],
    ]) {
      const { status, stderr } = await run(args);
      assert.equal(status, 0, stderr);
    }
  });

  it('is copied into a folder, by its settings in the environment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-copy-'));
    const copied = await run(['admin', 'copy', '--to', folder]);
    assert.equal(copied.status, 0, copied.stderr);
    const verified = await run(['admin', 'verify', '--store', folder]);
    assert.deepEqual([verified.status, verified.stderr.split('\n')[0]], [0, `store  folder ${folder}`]);
    assert.equal((await run(['admin', 'verify', '--store', join(folder, 'missing')])).status, 4);
    await rm(folder, { recursive: true });
  });

  it('says in a line that it cannot reach PostgreSQL, without the password', async () => {
    const TENON_DATABASE_URL = 'postgresql://tenon:s3cret@127.0.0.1:1/tenon';
    const { status, stderr } = await run(['serve'], { TENON_DATABASE_URL });
    assert.notEqual(status, 0);
    assert.match(stderr, /ECONNREFUSED/);
    assert.doesNotMatch(stderr, /s3cret/);
    assert.ok(stderr.split('\n').length < 5, stderr);
  });
});
