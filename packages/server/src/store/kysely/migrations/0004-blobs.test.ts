import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { Kysely } from 'kysely';
import { addressOfBytes, bytesOf } from '../../../../test/helpers/bytes.ts';
import { openHouse } from '../../../../test/helpers/housekeeping.ts';
import { openFolderBlobStore } from '../../../blobs/fs/folder-blob-store.ts';
import { collect } from '../../../domain/housekeeping/collect.ts';
import { verify } from '../../../domain/housekeeping/verify.ts';
import { columnTypes } from '../../sqlite/column-types.ts';
import { writingDialect } from '../../sqlite/dialect.ts';
import { createDatabaseFile, openWriter } from '../../sqlite/files.ts';
import { migrate } from '../migrate.ts';
import { migrations } from './all.ts';

const [shared, single, orphan] = [bytesOf(1, 100), bytesOf(2, 200), bytesOf(3, 300)];

/** A data folder of the release before: three versions of two contents, and a file that a crash left. */
async function writeOldFolder(dataDir: string): Promise<void> {
  const file = join(dataDir, 'tenon.db');
  await createDatabaseFile(file);
  const database = await openWriter(file, 1000);
  const db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
  await migrate(
    (work) => db.transaction().execute(work),
    migrations.slice(0, 3),
    columnTypes,
    () => 1,
  );
  const [user, app, point] = [newId('user'), newId('app'), newId('extensionPoint')];
  const run = (sql: string, ...values: (string | number)[]) => database.prepare(sql).run(...values);
  run('insert into users (id, name, created_at_ms) values (?, ?, 1)', user, 'Ada');
  run('insert into apps values (?, ?, 1, 1)', app, 'App');
  run(
    'insert into extension_points (id, app_id, name, schema_json, created_at_ms, updated_at_ms) values (?, ?, ?, ?, 1, 1)',
    point,
    app,
    'Point',
    '{}',
  );
  for (const [name, bytes] of [
    ['a', shared],
    ['b', shared],
    ['c', single],
  ] as const) {
    run(
      'insert into plugins (extension_point_id, user_id, name, last_number, created_at_ms) values (?, ?, ?, 1, 1)',
      point,
      user,
      name,
    );
    run(
      `insert into versions (id, extension_point_id, user_id, name, number, app_id, content_address, size, created_at_ms)
       values (?, ?, ?, ?, 1, ?, ?, ?, 1)`,
      newId('version'),
      point,
      user,
      name,
      app,
      addressOfBytes(bytes),
      bytes.length,
    );
  }
  database.close();
  const blobs = await openFolderBlobStore({ folder: join(dataDir, 'blobs') });
  for (const bytes of [shared, single, orphan]) await blobs.put(addressOfBytes(bytes), bytes);
}

describe('blobs', () => {
  it('gives a row to all that versions name, and none to what none names', async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tenon-migration-'));
    t.after(() => rm(dataDir, { recursive: true }));
    await writeOldFolder(dataDir);
    const house = await openHouse(dataDir);
    const rows = await house.store.read.blobs({ limit: 9 });
    assert.deepEqual(
      new Map(rows.map(({ address, size, state, isNamed }) => [address, { size, state, isNamed }])),
      new Map(
        [shared, single].map((bytes) => [
          addressOfBytes(bytes),
          { size: bytes.length, state: 'present', isNamed: true },
        ]),
      ),
    );
    const found = await verify(house);
    assert.deepEqual([found.faults, found.unknownObjects.length], [[], 1]);
    assert.equal((await house.collect())?.unknown, 1);
    assert.equal((await collect(house, { graceMs: 0, isForced: true }))?.deleted, 1);
    assert.deepEqual(
      (await Array.fromAsync(house.blobs.list())).sort(),
      rows.map(({ address }) => address),
    );
    await house.close();
  });
});
