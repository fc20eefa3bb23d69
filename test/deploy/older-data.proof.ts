import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import {
  putPlugins,
  versionsSince,
  writeOldDatabase,
  writeOldFolder,
} from '../../packages/server/test/helpers/older-data.ts';
import { noPostgres, startPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import { asHost, type Quickstart, quickstartOf, serve, thisRelease } from './release.ts';

describe('a server on data of an old release', () => {
  let folder: string;
  /** What an old release has left: metadata in its schema, plugins, and the quickstart file. */
  let old: string;
  let quickstart: Quickstart;
  let served: Awaited<ReturnType<typeof asHost>>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tenon-older-'));
    const today = join(folder, 'today');
    const server = await serve(thisRelease, today);
    quickstart = quickstartOf(today);
    served = await asHost(server.url, quickstart);
    assert.equal(served.contents.length, 1);
    await server.stop();
    old = join(folder, 'old');
    mkdirSync(old);
    await writeOldFolder(today, old);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('migrates it at its start, and serves what the old one did', async () => {
    const dataDir = join(folder, 'migrated');
    cpSync(old, dataDir, { recursive: true });
    const versionOf = (of: string): number => {
      const database = new DatabaseSync(join(of, 'tenon.db'), { readOnly: true });
      const row = database.prepare('select max(version) as version from schema_versions').get();
      database.close();
      return Number(row?.version);
    };
    const before = versionOf(dataDir);
    const server = await serve(thisRelease, dataDir);
    try {
      assert.deepEqual(await asHost(server.url, quickstart), served);
    } finally {
      assert.equal(await server.stop(), 0);
    }
    assert.ok(versionsSince > 0);
    assert.equal(versionOf(dataDir), before + versionsSince);
  });

  it('migrates it once, on PostgreSQL, when two nodes start at the same time', { skip: noPostgres }, async () => {
    const [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    try {
      const { url } = await postgres.createDatabase();
      await writeOldDatabase(old, url);
      const { bucket, endpoint, credentials } = objects.options('plugins');
      await putPlugins(old, objects.options('plugins'));
      const settings = {
        TENON_DATABASE_URL: url,
        TENON_S3_BUCKET: bucket,
        TENON_S3_ENDPOINT: endpoint,
        TENON_S3_ACCESS_KEY_ID: credentials.accessKeyId,
        TENON_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      };
      const nodes = await Promise.all(['one', 'two'].map((name) => serve(thisRelease, join(folder, name), settings)));
      for (const node of nodes) assert.deepEqual(await asHost(node.url, quickstart), served);
      for (const node of nodes) assert.equal(await node.stop(), 0);
      const client = new pg.Client(url);
      await client.connect();
      const { rows } = await client.query(
        'select count(*)::int as all, max(version)::int as newest from schema_versions',
      );
      await client.end();
      assert.equal(rows[0].all, rows[0].newest);
    } finally {
      postgres.stop();
      await objects.stop();
    }
  });
});
