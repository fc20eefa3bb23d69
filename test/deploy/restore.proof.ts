import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { noPostgres, type PostgresServer, startPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import { codeBlocks } from '../../scripts/lib/markdown.mjs';
import { root, startServer, withoutTenon } from '../helpers/server.ts';
import { asHost, shellFunction, thisRelease } from './release.ts';

const run = promisify(execFile);
/** Which of the PostgreSQL that there are this machine's own tools are of. */
const [, ofTools] = /(\d+)\./.exec(String(spawnSync('pg_dump', ['--version']).stdout)) ?? [];
const hasDump = (ofTools === '15' || ofTools === '18') && spawnSync('pg_restore', ['--version']).status === 0;

/** The lines of the page: to back up, then to restore. */
const page = readFileSync(join(root, 'docs', 'how-to', 'several-nodes.md'), 'utf8');
const lines = codeBlocks(page)
  .filter(({ code }) => /pg_dump|pg_restore/.test(code))
  .flatMap(({ code }) => code.trimEnd().split('\n'));

// The registry's PostgreSQL comes without pg_dump. Where the machine has none, PostgreSQL copies the database's files itself, once
// no client is connected; base backups are not tried, and objects are copied by other means than Amazon's tool.
describe(`a node on a backup (${hasDump ? 'by pg_dump' : 'by a copy of the files'})`, { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tenon-restore-'));
    [postgres, objects] = await Promise.all([
      startPostgres(ofTools === '15' ? 15 : 18),
      startObjectStore(['tenon-plugins', 'tenon-backup', 'tenon-restored', 'tenon-moved']),
    ]);
  });
  after(async () => {
    postgres.stop();
    await objects.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function settingsOf(url: string, bucketName: string): Record<string, string> {
    const { bucket, endpoint, credentials } = objects.options(bucketName);
    return {
      TENON_DATABASE_URL: url,
      TENON_S3_BUCKET: bucket,
      TENON_S3_ENDPOINT: endpoint,
      TENON_S3_ACCESS_KEY_ID: credentials.accessKeyId,
      TENON_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
  }

  /** Does a line of the page with the command line's settings; how objects are copied is up to the store. */
  async function follow(line: string, settings: Readonly<Record<string, string>>): Promise<void> {
    const [, from, to] = /^aws s3 sync s3:\/\/(\S+) s3:\/\/(\S+)/.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      assert.ok((await objects.copyBucket(from, to)) > 0, line);
      return;
    }
    const bucket = objects.options('tenon-restored').bucket;
    const script = `${shellFunction(thisRelease)}\n${line.replace('=tenon-restored', `=${bucket}`)}`;
    await run('bash', ['-euc', script], { cwd: folder, env: { ...withoutTenon(process.env), ...settings } });
  }

  it('serves what the old one served, to the tokens of then, and verifies', async () => {
    const words = lines.map((line) => line.split(/[ =]/, 1)[0]);
    assert.deepEqual(words, ['pg_dump', 'aws', 'pg_restore', 'aws', 'TENON_DATABASE_URL']);
    const live = await postgres.createDatabase();
    const first = await startServer({ settings: settingsOf(live.url, 'tenon-plugins') });
    const before = await asHost(first.quickstart.TENON_URL ?? '', first.quickstart);
    assert.equal(before.contents.length, 1);
    const restored = hasDump ? await postgres.createDatabase() : undefined;
    const settings = {
      ...settingsOf(live.url, 'tenon-plugins'),
      RESTORED_DATABASE_URL: restored?.url ?? '',
    };
    const [verifies = '', ...others] = lines.toReversed();
    // Beside the running node.
    for (const line of others.toReversed()) if (hasDump || line.startsWith('aws')) await follow(line, settings);
    await first.stop();
    const url = restored?.url ?? (await postgres.createDatabase(live.url)).url;
    await follow(verifies, { ...settings, RESTORED_DATABASE_URL: url });

    const second = await startServer({ settings: settingsOf(url, 'tenon-restored') });
    try {
      assert.deepEqual(await asHost(second.quickstart.TENON_URL ?? '', first.quickstart), before);
    } finally {
      await second.stop();
    }
  });

  it('serves what the server on a folder served before it was moved, as move.md says', async () => {
    const first = await startServer({});
    const before = await asHost(first.quickstart.TENON_URL ?? '', first.quickstart);
    const settings = settingsOf((await postgres.createDatabase()).url, 'tenon-moved');
    const code = codeBlocks(readFileSync(join(root, 'docs', 'how-to', 'move.md'), 'utf8'))
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => code.replace(/^ +/gm, ''))
      .join('')
      .replace(/^(TENON_\w+)=.*$/gm, (line, name: string) => (name in settings ? `${name}=${settings[name]}` : line));
    const script = `${shellFunction(thisRelease)}\n${code}`;
    await run('bash', ['-euc', script], { cwd: first.folder, env: withoutTenon(process.env) });
    await first.stop();
    const second = await startServer({ settings });
    try {
      assert.deepEqual(await asHost(second.quickstart.TENON_URL ?? '', first.quickstart), before);
    } finally {
      await second.stop();
    }
  });
});
