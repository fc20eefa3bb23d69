import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import { archiveOf, chunksOf, manifestOf } from '../../test/helpers/archives.ts';
import { addressOfBytes, bytesOf } from '../../test/helpers/bytes.ts';
import { type House, openHouse } from '../../test/helpers/housekeeping.ts';
import { createRecords, versionRecord } from '../../test/helpers/records.ts';
import { verify } from '../domain/housekeeping/verify.ts';
import { writeWithBlob } from '../domain/housekeeping/with-blob.ts';
import { migrations } from '../store/kysely/migrations/all.ts';
import { backUp } from './back-up.ts';
import { BackupError } from './errors.ts';
import { type RestoreOptions, restore } from './restore.ts';

const contents = [bytesOf(1, 3000), bytesOf(2, 0), bytesOf(3, 300_000)];

describe('restore()', () => {
  let house: House;
  let target: string;
  beforeEach(async () => {
    house = await openHouse();
    target = join(house.dataDir, 'elsewhere', 'deep');
    const { key } = await createRecords(house.store).stage();
    for (const [at, bytes] of contents.entries()) {
      const [contentAddress, size] = [addressOfBytes(bytes), bytes.length];
      await writeWithBlob(house, contentAddress, bytes, (tx) =>
        tx.insertVersion(versionRecord(key(`plugin-${at}`), { contentAddress, size })),
      );
    }
  });
  afterEach(() => house.close());

  /** A backup of the house, whole. */
  async function archive(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    const { dataDir } = house;
    const sink = async (bytes: Uint8Array) => void pieces.push(bytes.slice());
    const summary = await backUp(house, { dataDir, workFolder: dataDir, sink });
    const bytes = new Uint8Array(Buffer.concat(pieces));
    assert.equal(summary.archiveBytes, bytes.length);
    assert.equal(summary.blobs, contents.length);
    return bytes;
  }

  const put = (bytes: Uint8Array, more: Partial<RestoreOptions> = {}) =>
    restore({ source: chunksOf(bytes, 65_536), sourceBytes: bytes.length, dataDir: target, nowMs: 0, ...more });

  async function demandNothingThere(folder = target): Promise<void> {
    assert.deepEqual(await readdir(folder), []);
  }

  it('makes a data folder in which all is as it was, for its owner alone', async () => {
    await put(await archive());
    assert.deepEqual((await readdir(target)).sort(), ['blobs', 'tenon.db']);
    assert.equal((await stat(join(target, 'tenon.db'))).mode & 0o777, 0o600);
    for (const path of ['.', 'blobs', 'blobs/00']) {
      assert.equal((await stat(join(target, path))).mode & 0o777, 0o700, path);
    }
    const restored = await openHouse(target);
    const found = await verify(restored);
    assert.deepEqual([found.faults, found.unknownObjects, found.blobs, found.versions], [[], [], 3, 3]);
    assert.deepEqual(await rowsOf(restored), await rowsOf(house));
    assert.equal((await restored.collect())?.deleted, 0);
    await restored.close();
  });

  it('leaves out what no version names, what is begun and who is at work', async () => {
    await house.putUnknown(bytesOf(9, 100));
    const passing = bytesOf(8, 100);
    await writeWithBlob(house, addressOfBytes(passing), passing, async () => {});
    await put(await archive());
    const restored = await openHouse(target);
    assert.equal((await Array.fromAsync(restored.blobs.list())).length, contents.length);
    assert.equal((await restored.store.read.blobs({ limit: 99 })).length, contents.length);
    for (const kind of ['backup', 'collect'] as const) {
      assert.deepEqual(await restored.store.read.leaseHolders(kind, 0), []);
    }
    await restored.close();
  });

  it('refuses a folder that holds something, and leaves it', async () => {
    await mkdir(target, { recursive: true });
    await writeFile(join(target, 'notes.txt'), 'mine');
    await assert.rejects(put(await archive()), { code: 'not_empty' });
    assert.deepEqual(await readdir(target), ['notes.txt']);
  });

  it('moves what is there aside when it is told to, and forgets nothing of it', async () => {
    const bytes = await archive();
    await put(bytes);
    const first = await openHouse(target);
    await createRecords(first.store).user({ name: 'only in the first' });
    await first.close();
    await writeFile(join(target, 'quickstart.env'), 'TENON_TOKEN=old');
    const { replacedFolder } = await put(bytes, { force: true, nowMs: Date.UTC(2026, 4, 17) });
    assert.equal(replacedFolder, join(target, 'replaced-2026-05-17T00-00-00-000Z'));
    assert.deepEqual((await readdir(target)).sort(), ['blobs', 'replaced-2026-05-17T00-00-00-000Z', 'tenon.db']);
    assert.deepEqual((await readdir(replacedFolder)).sort(), ['blobs', 'quickstart.env', 'tenon.db']);
    assert.ok((await readFile(join(replacedFolder, 'tenon.db'))).includes('only in the first'));
    assert.ok(!(await readFile(join(target, 'tenon.db'))).includes('only in the first'));
  });

  it('refuses a folder whose database is open, and leaves it as it is', async () => {
    const bytes = await archive();
    await put(bytes);
    const running = await openHouse(target);
    await createRecords(running.store).user({ name: 'running' });
    await assert.rejects(put(bytes, { force: true }), { code: 'in_use' });
    await createRecords(running.store).user({ name: 'still running' });
    assert.deepEqual((await verify(running)).faults, []);
    await running.close();
    await put(bytes, { force: true });
  });

  it('replaces a database that can not be read any more', async () => {
    const bytes = await archive();
    await put(bytes);
    await writeFile(join(target, 'tenon.db'), bytesOf(1, 9000));
    await put(bytes, { force: true });
    const restored = await openHouse(target);
    assert.deepEqual((await verify(restored)).faults, []);
    await restored.close();
  });

  it('clears away what a restore left that was killed', async () => {
    const bytes = await archive();
    await mkdir(join(target, 'restore-0123456789abcdef.tmp', 'blobs'), { recursive: true });
    await put(bytes);
    assert.deepEqual((await readdir(target)).sort(), ['blobs', 'tenon.db']);
  });

  it('leaves nothing when it is told to end', async () => {
    const bytes = await archive();
    const controller = new AbortController();
    const progress = {
      total: () => {},
      advance: () => controller.abort(new Error('enough')),
    };
    await assert.rejects(put(bytes, { signal: controller.signal, progress }), /enough/);
    await demandNothingThere();
  });

  it('refuses a backup that was changed anywhere or cut off, and leaves nothing', async () => {
    const bytes = await archive();
    for (let part = 0; part < 24; part++) {
      const at = Math.floor(((part + 0.5) / 24) * bytes.length);
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      await assert.rejects(put(changed), BackupError, `byte ${at}`);
      await demandNothingThere();
      const cut = bytes.subarray(0, at);
      await assert.rejects(put(cut, { sourceBytes: undefined }), BackupError, `${at} bytes`);
      await demandNothingThere();
    }
  });

  /** The house's database after some change, and a backup of it that has the right sums. */
  async function forged(change: (database: DatabaseSync) => void, schemaVersion = migrations.length) {
    const whole = await archive();
    await put(whole);
    const file = join(target, 'tenon.db');
    const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    change(database);
    database.close();
    const bytes = new Uint8Array(await readFile(file));
    target = join(house.dataDir, 'forged');
    return archiveOf(bytes, contents, manifestOf(bytes, contents, schemaVersion));
  }

  const forgeries: [string, (database: DatabaseSync) => void, RegExp][] = [
    [
      'a trigger',
      (db) => db.exec('create trigger t after insert on users begin delete from users; end'),
      /tables are not/,
    ],
    ['a view', (db) => db.exec('create view v as select 1'), /tables are not/],
    ['a table of its own', (db) => db.exec('create table extra (a)'), /tables are not/],
    ['a virtual table', (db) => db.exec('create virtual table f using fts5(a)'), /tables are not|cannot read/],
    ['a table less', (db) => db.exec('drop table bindings'), /tables are not/],
    ['a column more', (db) => db.exec('alter table users add column extra text'), /tables are not/],
    ['rows that refer to nothing', (db) => db.exec("update members set userId = 'usr_nobody'"), /refers to a row/],
    ['versions of other contents', (db) => db.exec("update versions set contentAddress = 'x'"), /other contents/],
    ['versions of other sizes', (db) => db.exec('update versions set size = size + 1'), /other contents/],
    ['fewer versions', (db) => db.exec('delete from versions where number = 1'), /other contents|no version/],
  ];
  for (const [what, change, reason] of forgeries) {
    it(`refuses a database with ${what}, though all sums are right`, async () => {
      const bytes = await forged(change);
      await assert.rejects(put(bytes), (error) => {
        assert.ok(error instanceof BackupError, String(error));
        assert.equal(error.code, 'damaged_backup');
        assert.match(error.message, reason);
        return true;
      });
      await demandNothingThere();
    });
  }

  it('takes such a database where nothing was changed in it', async () => {
    await put(await forged(() => {}));
  });

  it('refuses what is no database', async () => {
    for (const bytes of [bytesOf(1, 8192), new Uint8Array(0), Buffer.from('SQLite format 3\0')]) {
      await assert.rejects(put(await archiveOf(bytes, [])), { code: 'damaged_backup' });
      await demandNothingThere();
    }
  });

  it('refuses the data of a newer version', async () => {
    const newer = (db: DatabaseSync) => db.exec("insert into schema_versions values (999, 'from the future', 0)");
    await assert.rejects(put(await forged(newer, 999)), { code: 'newer_backup' });
    await demandNothingThere();
  });

  it('refuses a manifest that tells of another version of the data', async () => {
    await assert.rejects(put(await forged(() => {}, 1)), { code: 'damaged_backup' });
  });
});

describe('backUp()', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse();
  });
  afterEach(() => house.close());

  async function publishOne(): Promise<ContentAddress> {
    const bytes = bytesOf(1, 5000);
    const { key } = await createRecords(house.store).stage();
    const contentAddress = addressOfBytes(bytes);
    await writeWithBlob(house, contentAddress, bytes, (tx) =>
      tx.insertVersion(versionRecord(key('one'), { contentAddress, size: bytes.length })),
    );
    return contentAddress;
  }
  const run = (sink: (bytes: Uint8Array) => Promise<void>, signal?: AbortSignal) =>
    backUp(house, { dataDir: house.dataDir, workFolder: house.dataDir, sink, ...(signal && { signal }) });

  const leftOver = async () => (await readdir(house.dataDir)).filter((name) => name.startsWith('.tenon-backup'));

  it('keeps the collector from what it copies until it is done', async () => {
    const address = await publishOne();
    const heldBy = () => house.store.read.leaseHolders('backup', house.clock());
    let asked = 0;
    await run(async () => {
      if (asked++ > 0) return;
      assert.equal((await heldBy()).length, 1);
      assert.equal(await house.store.read.isContentNamed(address), true);
      await house.store.write(async (tx) => {
        for (const user of await usersOf(house)) await tx.eraseUser(user, { name: 'gone', deletedAtMs: 1 });
      });
      house.advance(20 * 60_000);
      const collected = await house.collect();
      assert.deepEqual([collected?.isHeldByBackup, collected?.deleted, collected?.waiting], [true, 0, 1]);
    });
    assert.deepEqual(await heldBy(), []);
    assert.equal((await house.collect())?.deleted, 1);
    assert.deepEqual(await leftOver(), []);
  });

  it('fails, and gives its lease back, where the data is not whole', async () => {
    const address = await publishOne();
    await house.blobs.delete((await house.keyOf(address)) ?? address);
    await assert.rejects(
      run(async () => {}),
      { code: 'damaged_data' },
    );
    assert.deepEqual(await house.store.read.leaseHolders('backup', house.clock()), []);
    assert.deepEqual(await leftOver(), []);
  });

  it('ends when it is told to, and when nobody takes what it writes', async () => {
    await publishOne();
    const full = Object.assign(new Error('no room'), { code: 'ENOSPC' });
    await assert.rejects(
      run(() => Promise.reject(full)),
      (error) => error === full,
    );
    await assert.rejects(
      run(async () => {}, AbortSignal.abort(new Error('enough'))),
      /enough/,
    );
    assert.deepEqual(await leftOver(), []);
    assert.deepEqual(await house.store.read.leaseHolders('backup', house.clock()), []);
  });
});

async function rowsOf({ store }: House) {
  const named = (await store.read.namedContents({ limit: 99 })).map(({ generation: _, ...content }) => content);
  const blobs = await store.read.blobs({ limit: 99 });
  return { named, blobs: blobs.map(({ address, size }) => ({ address, size })) };
}

async function usersOf({ dataDir }: House) {
  const database = new DatabaseSync(join(dataDir, 'tenon.db'), { readOnly: true });
  const ids = database.prepare('select distinct userId as id from versions').all();
  database.close();
  return ids.map(({ id }) => id as never);
}
