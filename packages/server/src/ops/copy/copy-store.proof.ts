import assert from 'node:assert/strict';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { addressOfBytes, bytesOf } from '../../../test/helpers/bytes.ts';
import { assertVerifies, copy, embedded, openAsServer, refused } from '../../../test/helpers/copies.ts';
import { dump } from '../../../test/helpers/dump.ts';
import { contents, type FolderCopies, openFolderCopies } from '../../../test/helpers/folder-copies.ts';
import { createRecords, versionRecord } from '../../../test/helpers/records.ts';
import { openStoreFixture } from '../../../test/helpers/store-fixture.ts';
import { verify } from '../../blobs/verify.ts';
import { writeWithBlob } from '../../blobs/with-blob.ts';
import { type CopyStep, copySteps } from './copy-store.ts';
import { readCopiedTables } from './tables.ts';

const [first = new Uint8Array()] = contents;

describe('copyStore() between folders', () => {
  let copies: FolderCopies;
  let fixture: FolderCopies['fixture'];
  let target: string;
  let fileOf: FolderCopies['fileOf'];
  let failBefore: FolderCopies['failBefore'];
  const from = () => embedded(fixture.dataDir);
  const to = () => embedded(target);
  beforeEach(async () => {
    copies = await openFolderCopies();
    ({ fixture, target, fileOf, failBefore } = copies);
  });
  afterEach(() => copies.close());

  it('copies all data, readable only by the owner, and links files on one file system', async () => {
    const steps: CopyStep[] = [];
    const progress: number[] = [];
    const copied = await copy(from(), to(), {
      onStep: (step) => void steps.push(step),
      onProgress: { total: (bytes) => void progress.push(bytes), advance: (bytes) => void progress.push(-bytes) },
    });
    assert.deepEqual(steps, copySteps);
    const bytes = contents.reduce((sum, { length }) => sum + length, 0);
    assert.deepEqual([copied.contents, copied.bytes, copied.rows.versions], [3, bytes, 3]);
    const totals = progress.filter((change) => change > 0);
    assert.deepEqual(totals, [bytes, bytes], 'once to copy, once to verify');
    assert.equal(
      progress.reduce((sum, change) => sum + change, 0),
      0,
    );
    assert.deepEqual(await dump(to()), await dump(from()));
    await assertVerifies(to());
    assert.equal((await stat(join(target, 'tenon.db'))).mode & 0o777, 0o600);
    for (const path of ['.', 'blobs', 'blobs/00']) assert.equal((await stat(join(target, path))).mode & 0o777, 0o700);
    const address = addressOfBytes(first);
    assert.equal(
      (await stat(await fileOf(target, address))).ino,
      (await stat(await fileOf(fixture.dataDir, address))).ino,
    );
    await openAsServer(to());
  });

  it('does not copy unreferenced contents, leases, and data about the server', async () => {
    await fixture.putUnknown(bytesOf(9, 100));
    const unused = bytesOf(8, 100);
    await writeWithBlob(fixture, addressOfBytes(unused), unused, async () => {});
    await copy(from(), to());
    const copied = await openStoreFixture(target);
    assert.equal((await Array.fromAsync(copied.blobs.list())).length, contents.length);
    assert.equal((await copied.store.read.blobs({ limit: 99 })).length, contents.length);
    for (const kind of ['copy', 'collect'] as const) {
      assert.deepEqual(await copied.store.read.leaseHolders(kind, 0), []);
    }
    assert.equal((await copied.collect())?.deleted, 0);
    await copied.close();
  });

  it('blocks garbage collection of what it copies, and copies a consistent snapshot', async () => {
    const database = () => new DatabaseSync(join(fixture.dataDir, 'tenon.db'), { readOnly: true });
    await copy(from(), to(), {
      clock: fixture.clock,
      async onStep(step) {
        if (step !== 'copy_blobs') return;
        const ids = database().prepare('select distinct "userId" as id from versions').all();
        await fixture.store.write(async (tx) => {
          for (const { id } of ids) await tx.eraseUser(id as never, { name: 'gone', deletedAtMs: 1 });
        });
        fixture.advance(20 * 60_000);
        const collected = await fixture.collect();
        assert.deepEqual([collected?.isHeldByCopy, collected?.deleted, collected?.waiting], [true, 0, 3]);
      },
    });
    assert.deepEqual(await fixture.store.read.leaseHolders('copy', fixture.clock()), []);
    assert.equal((await fixture.collect())?.deleted, 3);
    const copied = await openStoreFixture(target);
    const found = await verify(copied);
    assert.deepEqual([found.faults, found.unknownObjects, found.blobs, found.versions], [[], [], 3, 3]);
    await copied.close();
  });

  it('continues after a failure in any step, includes later changes, and no server opens an unfinished copy', async () => {
    for (const step of copySteps) {
      await failBefore(step, target);
      if (step !== 'mark_target') await assert.rejects(openAsServer(to()), refused('unfinished_copy'));
      if (step !== 'mark_target') await assert.rejects(copy(to(), embedded(`${target}-2`)), refused('unfinished_copy'));
      assert.deepEqual(await fixture.store.read.leaseHolders('copy', Date.now()), [], step);
    }
    const { key } = await createRecords(fixture.store).stage();
    const bytes = bytesOf(7, 2000);
    const contentAddress = addressOfBytes(bytes);
    await writeWithBlob(fixture, contentAddress, bytes, (tx) =>
      tx.insertVersion(versionRecord(key('later'), { contentAddress, size: bytes.length })),
    );
    await copy(from(), to());
    assert.deepEqual(await dump(to()), await dump(from()));
    await assertVerifies(to());
  });

  it('deletes data from an unfinished copy that the source has deleted since', async () => {
    await failBefore('verify', target);
    const database = new DatabaseSync(join(fixture.dataDir, 'tenon.db'));
    database.exec("delete from plugins where name = 'plugin-0'");
    database.close();
    await fixture.collect();
    await copy(from(), to());
    const copied = await openStoreFixture(target);
    assert.equal((await Array.fromAsync(copied.blobs.list())).length, 2);
    await copied.close();
    await assertVerifies(to());
  });

  it('stops when it is aborted', async () => {
    const controller = new AbortController();
    const onProgress = { total() {}, advance: () => controller.abort(new Error('enough')) };
    await assert.rejects(copy(from(), to(), { signal: controller.signal, onProgress }), /enough/);
    await assert.rejects(openAsServer(to()), refused('unfinished_copy'));
    await copy(from(), to());
    await assertVerifies(to());
  });

  it('fails when a later copy into the same target starts', async () => {
    for (const step of ['copy_rows', 'finish'] as const) {
      target = join(target, step);
      const interrupted = copy(from(), to(), {
        async onStep(at) {
          if (at === step) await failBefore('verify', target);
        },
      });
      await assert.rejects(interrupted, refused('interrupted'));
      await assert.rejects(openAsServer(to()), refused('unfinished_copy'));
    }
  });

  it('rejects a target with other data, and does not change it', async () => {
    await mkdir(target, { recursive: true });
    await writeFile(join(target, 'notes.txt'), 'mine');
    await assert.rejects(copy(from(), to()), refused('not_empty'));
    assert.deepEqual(await readdir(target), ['notes.txt']);
    await assert.rejects(copy(from(), from()), refused('same_store'));

    const others = ['row', 'blob', 'copy'].map((name) => join(target, '..', name)) as [string, string, string];
    const withRow = await openStoreFixture(others[0]);
    await createRecords(withRow.store).user({ name: 'Ada' });
    const before = await dump(embedded(others[0]));
    await assert.rejects(copy(from(), embedded(others[0])), refused('not_empty'));
    assert.deepEqual(await dump(embedded(others[0])), before);
    await withRow.close();
    const withBlob = await openStoreFixture(others[1]);
    await withBlob.putUnknown(bytesOf(4, 10));
    await withBlob.close();
    await assert.rejects(copy(from(), embedded(others[1])), refused('not_empty'));
    target = others[2];
    await failBefore('verify', target);
    await assert.rejects(copy(embedded(others[0]), embedded(others[2])), refused('not_empty'));
    await copy(from(), to());
  });
});

describe('readCopiedTables()', () => {
  it('has every table except internal ones, referenced tables first', async () => {
    const fixture = await openStoreFixture();
    const database = new DatabaseSync(join(fixture.dataDir, 'tenon.db'), { readOnly: true });
    try {
      const names = (await readCopiedTables()).map(({ name }) => name);
      const all = database.prepare("select name from sqlite_schema where type = 'table'").all();
      const own = [
        'blob_deletions',
        'blobs',
        'mails',
        'maintenance_runs',
        'commits',
        'leases',
        'nodes',
        'oci_chunks',
        'oci_uploads',
        'schema_versions',
        'passkey_challenges',
        'pending_sign_ins',
        'usage_writers',
      ];
      assert.deepEqual([...names, ...own].sort(), all.map(({ name }) => String(name)).sort());
      for (const { name, columns, key } of await readCopiedTables()) {
        assert.ok(key.length > 0 && columns.length >= key.length, name);
        const parents = database.prepare('select "table" as parent from pragma_foreign_key_list(?)').all(name);
        for (const { parent } of parents) {
          if (parent !== name)
            assert.ok(names.indexOf(String(parent)) < names.indexOf(name), `${parent} before ${name}`);
        }
      }
    } finally {
      database.close();
      await fixture.close();
    }
  });
});
