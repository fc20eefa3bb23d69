import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { noPostgres, type PostgresServer, startPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import { type RunningServer, startServer, tenon, withoutTenon } from '../helpers/server.ts';

const run = promisify(execFile);
/** Which of the PostgreSQL that there are this machine's own tools are of. */
const [, ofTools] = /(\d+)\./.exec(String(spawnSync('pg_dump', ['--version']).stdout)) ?? [];
const hasDump = (ofTools === '15' || ofTools === '18') && spawnSync('pg_restore', ['--version']).status === 0;

// The registry's PostgreSQL comes without pg_dump. Where the machine has none, PostgreSQL copies the database's files itself, once
// nobody is connected; base backups and the copying of a bucket by its own tools are not tried.
describe(`a node on a backup (${hasDump ? 'by pg_dump' : 'by a copy of the files'})`, { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tenon-restore-'));
    [postgres, objects] = await Promise.all([
      startPostgres(ofTools === '15' ? 15 : 18),
      startObjectStore(['plugins', 'restored']),
    ]);
  });
  after(async () => {
    postgres.stop();
    await objects.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function settingsOf(url: string, bucketName: string): Record<string, string> {
    const { bucket, endpoint = '', credentials } = objects.options(bucketName);
    return {
      TENON_DATABASE_URL: url,
      TENON_S3_BUCKET: bucket,
      TENON_S3_ENDPOINT: endpoint,
      TENON_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
      TENON_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
    };
  }

  async function copyByTools(from: string): Promise<string> {
    const file = join(folder, 'tenon.dump');
    const { url } = await postgres.createDatabase();
    await run('pg_dump', ['--format=custom', `--file=${file}`, from]);
    await run('pg_restore', ['--no-owner', `--dbname=${url}`, file]);
    return url;
  }

  /** The list of the demo's guest, and the bytes of its plugin, with a token from before the backup. */
  async function asHost(
    url = '',
    { TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY = '' }: RunningServer['quickstart'],
  ) {
    const headers = { authorization: `Bearer ${TENON_TOKEN}` };
    const path = `/api/v1/extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(TENON_GUEST_KEY)}`;
    const answer = await fetch(url + path, { headers });
    assert.equal(answer.status, 200);
    const list = (await answer.json()) as Record<string, { contentAddress: string }>;
    const contents = Object.values(list).map(async ({ contentAddress }) => {
      const content = await fetch(`${url}/api/v1/c/${contentAddress}`, { headers });
      return { status: content.status, bytes: Buffer.from(await content.bytes()).toString('base64') };
    });
    return { list, contents: await Promise.all(contents) };
  }

  it('serves what the old one served, to the tokens of then, and verifies', async () => {
    const live = await postgres.createDatabase();
    const first = await startServer({ settings: settingsOf(live.url, 'plugins') });
    const before = await asHost(first.quickstart.TENON_URL, first.quickstart);
    assert.deepEqual(
      before.contents.map(({ status }) => status),
      [200],
    );
    const dumped = hasDump ? await copyByTools(live.url) : undefined; // beside the running node
    assert.ok((await objects.copyBucket('plugins', 'restored')) > 0);
    await first.stop();
    const url = dumped ?? (await postgres.createDatabase(live.url)).url;

    const settings = settingsOf(url, 'restored');
    const second = await startServer({ settings, args: ['--no-demo'] });
    try {
      assert.deepEqual(await asHost(second.quickstart.TENON_URL, first.quickstart), before);
      const env = { ...withoutTenon(process.env), ...settings };
      await run(process.execPath, [tenon, 'admin', 'verify'], { env, cwd: folder });
    } finally {
      await second.stop();
    }
  });
});
