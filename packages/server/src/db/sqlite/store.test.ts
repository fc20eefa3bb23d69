import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { storeContract } from '../../../test/contracts/store-contract.ts';
import { upgradeContract } from '../../../test/contracts/upgrade-contract.ts';
import { createRecords } from '../../../test/helpers/records.ts';
import { backend } from '../../../test/helpers/stores.ts';
import { statements } from '../../queries.ts';
import { NewerSchemaError } from '../migrate.ts';
import { StorageFullError, UnavailableError } from '../store.ts';
import { columnTypes, writingDialect } from './dialect.ts';
import { openReader, openWriter } from './files.ts';
import { openSqliteStore } from './store.ts';

storeContract('openSqliteStore()', backend);

describe('openSqliteStore()', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-sqlite-'));
  });
  after(() => rm(folder, { recursive: true }));

  upgradeContract(async () => {
    const file = join(await mkdtemp(join(folder, 'baseline-')), 'tenon.db');
    const database = await openWriter(file, 1000);
    return {
      db: new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) }),
      types: columnTypes,
      openStore: () => openSqliteStore(statements, { file }),
      close: async () => database.close(),
    };
  });

  it('creates its files and parent folders for the owner only', async () => {
    const file = join(folder, 'deep', 'down', 'tenon.db');
    const store = await openSqliteStore(statements, { file });
    await createRecords(store).user();
    const names = await readdir(join(folder, 'deep', 'down'));
    assert.deepEqual(names.sort(), ['tenon.db', 'tenon.db-shm', 'tenon.db-wal']);
    for (const name of names) assert.equal((await stat(join(folder, 'deep', 'down', name))).mode & 0o777, 0o600);
    for (const path of ['deep', 'deep/down']) assert.equal((await stat(join(folder, path))).mode & 0o777, 0o700);
    await store.close();
    assert.deepEqual(await readdir(join(folder, 'deep', 'down')), ['tenon.db'], 'all is in the one file then');
  });

  it('keeps the mode of an existing file', async () => {
    const file = join(folder, 'shared.db');
    await writeFile(file, '');
    await chmod(file, 0o640);
    await (await openSqliteStore(statements, { file })).close();
    assert.equal((await stat(file)).mode & 0o777, 0o640);
  });

  it('waits for every commit to reach the disk', async () => {
    const database = await openWriter(join(folder, 'pragmas.db'), 1000);
    const pragma = (name: string) => Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0];
    assert.equal(pragma('journal_mode'), 'wal');
    assert.equal(pragma('synchronous'), 2, 'full');
    assert.equal(pragma('foreign_keys'), 1);
    database.close();
  });

  it('refuses a database that a newer release has migrated', async () => {
    const file = join(folder, 'newer.db');
    await (await openSqliteStore(statements, { file, clock: () => 1 })).close();
    const database = new DatabaseSync(file);
    database.exec("insert into schema_versions values (99, 'from the future', 2)");
    database.close();
    await assert.rejects(
      openSqliteStore(statements, { file }),
      (error) => error instanceof NewerSchemaError && error.found === 99,
    );
  });

  it('refuses a file that is no database', async () => {
    const file = join(folder, 'text.db');
    await writeFile(
      file,
      'This is a text of more than a hundred bytes, which SQLite takes for its header. '.repeat(20),
    );
    await assert.rejects(openSqliteStore(statements, { file }), /not a database/);
  });

  it('pings reads and writes separately, with a commit that invalidates nothing', async () => {
    const file = join(folder, 'ping.db');
    const store = await openSqliteStore(statements, { file, waitMs: 50 });
    const invalidated: unknown[] = [];
    store.onCommitted((tags) => void invalidated.push(tags));
    const other = new DatabaseSync(file);
    const commits = () => other.prepare('select count(*) as rows from commits').get()?.rows;
    const before = Number(commits());
    await Promise.all([store.pingWrite(), store.pingWrite()]);
    assert.equal(commits(), before + 1);
    store.revision();
    assert.deepEqual(invalidated, [[]]);
    other.exec('begin immediate');
    await store.ping();
    await assert.rejects(store.pingWrite(), UnavailableError);
    other.exec('rollback');
    await store.pingWrite();
    other.close();
    await store.close();
  });

  it('waits for another process without blocking the event loop, and fails after the time-out', async () => {
    const file = join(folder, 'busy.db');
    const store = await openSqliteStore(statements, { file, waitMs: 150 });
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 5);
    await assert.rejects(createRecords(store).user(), UnavailableError);
    assert.ok(ticks >= 3, `${ticks} turns of the event loop`);
    const waiting = createRecords(store).user();
    setTimeout(() => other.exec('rollback'), 30);
    const user = await waiting;
    clearInterval(ticking);
    assert.deepEqual(await store.read.user(user.id), user);
    other.close();
    await store.close();
  });

  it('fails with StorageFullError on a full disk, and continues when there is space again', async () => {
    const database = await openWriter(join(folder, 'full.db'), 1000);
    const db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
    const insert = (bytes: number) =>
      db.transaction().execute(async (tx) => {
        await sql`create table if not exists t (a)`.execute(tx);
        await sql`insert into t values (${'x'.repeat(bytes)})`.execute(tx);
      });
    await insert(10);
    database.exec('pragma max_page_count = 4');
    await assert.rejects(insert(100_000), StorageFullError);
    database.exec('pragma max_page_count = 4000');
    await insert(100_000);
    const { rows } = await sql<{ count: number }>`select count(*) as count from t`.execute(db);
    assert.deepEqual(rows, [{ count: 2 }]);
    database.close();
  });

  it('runs transactions one after the other, in the order of the calls', async () => {
    const store = await openSqliteStore(statements, { file: join(folder, 'turns.db') });
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} begins`);
      for (let turn = 0; turn < 5; turn++) await nextTurn();
      log.push(`${name} ends`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => store.write(work(name))));
    assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    await store.close();
  });

  it('reads on a connection that cannot write', async () => {
    const file = join(folder, 'reads.db');
    const store = await openSqliteStore(statements, { file });
    const reader = openReader(file);
    assert.throws(() => reader.exec('delete from users'), /readonly|read-only|query_only/);
    reader.close();
    await store.close();
  });
});
