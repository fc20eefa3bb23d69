import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { clockGap, maxClockGapMs, trustClock } from '../src/blobs/clock-gap.ts';
import { loadConfig } from '../src/config/config.ts';
import { openSqliteStore } from '../src/db/sqlite/store.ts';
import { statements } from '../src/queries.ts';
import { serve } from '../src/server.ts';
import { auditEvent, createRecords } from './helpers/records.ts';

const dayMs = 24 * 60 * 60 * 1000;
const silent = pino({ level: 'silent' });

describe('serve() on a data folder that', () => {
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tenon-replaced-'));
    await (await start()).close();
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  const start = (more: object = {}) => serve(loadConfig({ dataDir, port: '0', ...more }, {}), silent);
  const quickstart = () => readFile(join(dataDir, 'quickstart.env'), 'utf8');
  const blobs = async () =>
    (await readdir(join(dataDir, 'blobs'), { recursive: true })).filter((name) => name.length > 60);

  it('has lost its database does not start, and changes nothing', async () => {
    const before = [await quickstart(), await blobs()];
    assert.equal(before[1]?.length, 1);
    await rename(join(dataDir, 'tenon.db'), join(dataDir, 'aside'));
    await assert.rejects(start(), { name: 'UnknownBlobsError', message: /holds 1 object/ });
    await assert.rejects(stat(join(dataDir, 'tenon.db')), { code: 'ENOENT' });
    assert.deepEqual([await quickstart(), await blobs()], before);
    await rename(join(dataDir, 'aside'), join(dataDir, 'tenon.db'));
  });

  it('has an empty database and blobs does not start, creates no demo, and deletes no blobs', async () => {
    const before = [await quickstart(), await blobs()];
    await rename(join(dataDir, 'tenon.db'), join(dataDir, 'aside'));
    await (await openSqliteStore(statements, { file: join(dataDir, 'tenon.db') })).close();
    await assert.rejects(start({ collectIntervalMs: '1ms' }), { name: 'UnknownBlobsError' });
    const store = await openSqliteStore(statements, { file: join(dataDir, 'tenon.db') });
    assert.equal(await store.read.anyUser(), false);
    await store.close();
    assert.deepEqual([await quickstart(), await blobs()], before);
    await rm(join(dataDir, 'tenon.db'));
    await rename(join(dataDir, 'aside'), join(dataDir, 'tenon.db'));
    await (await start()).close();
  });

  it('has a database with contents and none of their blobs does not start, and changes nothing', async () => {
    const before = await quickstart();
    await rename(join(dataDir, 'blobs'), join(dataDir, 'aside'));
    const message = /has none of them \(1 checked\)/;
    await assert.rejects(start({ collectIntervalMs: '1ms' }), { name: 'MissingBlobsError', message });
    assert.equal(await quickstart(), before);
    await rm(join(dataDir, 'blobs'), { recursive: true });
    await rename(join(dataDir, 'aside'), join(dataDir, 'blobs'));
    await (await start()).close();
  });

  it('has an up-to-date quickstart.env writes no file', async () => {
    const port = String((await start().then(async (server) => [server.port, await server.close()] as const))[0]);
    const before = await stat(join(dataDir, 'quickstart.env'));
    await (await start({ port })).close();
    const after = await stat(join(dataDir, 'quickstart.env'));
    assert.deepEqual([after.ino, after.mtimeMs], [before.ino, before.mtimeMs]);
  });

  it('was last served long ago keeps its audit trail until an operator confirms the clock', async () => {
    const file = join(dataDir, 'tenon.db');
    const database = new DatabaseSync(file);
    const count = () => database.prepare('select count(*) as rows from audit_events').get()?.rows;
    const backwards = (days: number) => {
      database.exec(`update audit_events set atMs = atMs - ${days * dayMs}`);
      database.exec(`update maintenance_runs set endedAtMs = endedAtMs - ${days * dayMs} where kind = 'maintenance'`);
    };
    const before = count();
    assert.ok(Number(before) > 0);
    backwards(400); // the same as a clock that is 400 days ahead
    const retention = { auditRetentionMs: '30d' };
    await (await start(retention)).close();
    assert.equal(count(), before);
    const store = await openSqliteStore(statements, { file });
    assert.ok((await clockGap({ store, clock: Date.now })) > maxClockGapMs);
    const { publisher } = await createRecords(store).stage();
    await store.write((tx) => tx.insertAuditEvent(auditEvent({ atMs: Date.now(), userId: publisher.id })));
    await store.close();
    await (await start(retention)).close();
    assert.equal(count(), Number(before) + 1, 'an event by the wrong clock vouches for nothing');
    const vouched = await openSqliteStore(statements, { file });
    await trustClock({ store: vouched, clock: Date.now });
    await vouched.close();
    await (await start(retention)).close();
    assert.equal(count(), 1);
    database.close();
  });
});
