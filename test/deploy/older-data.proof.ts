import assert from 'node:assert/strict';
import { cpSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { noPostgres, startPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import { asHost, nextRelease, quickstartOf, serve, thisRelease } from './release.ts';

describe('the next release on data of this one', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenon-older-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('migrates it at its start, and serves what this one did', async () => {
    const old = join(folder, 'old');
    const server = await serve(thisRelease, old);
    const quickstart = quickstartOf(old);
    const served = await asHost(server.url, quickstart);
    assert.equal(served.contents.length, 1);
    assert.equal(await server.stop(), 0);
    const dataDir = join(folder, 'migrated');
    cpSync(old, dataDir, { recursive: true });
    const next = await serve(nextRelease, dataDir);
    try {
      assert.deepEqual(await asHost(next.url, quickstart), served);
    } finally {
      assert.equal(await next.stop(), 0);
    }
    assert.equal(versionOf(dataDir), versionOf(old) + 1);
  });

  it('migrates it once, on PostgreSQL, when two nodes start at the same time', { skip: noPostgres }, async () => {
    const [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    try {
      const { url } = await postgres.createDatabase();
      const { bucket, endpoint, credentials } = objects.options('plugins');
      const settings = {
        TENON_DATABASE_URL: url,
        TENON_S3_BUCKET: bucket,
        TENON_S3_ENDPOINT: endpoint,
        TENON_S3_ACCESS_KEY_ID: credentials.accessKeyId,
        TENON_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      };
      const server = await serve(thisRelease, join(folder, 'first'), settings);
      const quickstart = quickstartOf(join(folder, 'first'));
      const served = await asHost(server.url, quickstart);
      assert.equal(served.contents.length, 1);
      assert.equal(await server.stop(), 0);
      const nodes = await Promise.all(['one', 'two'].map((name) => serve(nextRelease, join(folder, name), settings)));
      for (const node of nodes) assert.deepEqual(await asHost(node.url, quickstart), served);
      for (const node of nodes) assert.equal(await node.stop(), 0);
      const client = new pg.Client(url);
      await client.connect();
      const { rows } = await client.query('select name, count(*)::int as times from schema_versions group by name');
      await client.end();
      assert.deepEqual(
        rows.filter(({ name, times }) => times > 1 || name === 'next release'),
        [{ name: 'next release', times: 1 }],
      );
    } finally {
      postgres.stop();
      await objects.stop();
    }
  });
});

function versionOf(dataDir: string): number {
  const database = new DatabaseSync(join(dataDir, 'tenon.db'), { readOnly: true });
  const row = database.prepare('select max(version) as version from schema_versions').get();
  database.close();
  return Number(row?.version);
}
