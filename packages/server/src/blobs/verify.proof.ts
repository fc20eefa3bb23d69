import assert from 'node:assert/strict';
import { open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import { addressOfBytes, bytesOf } from '../../test/helpers/bytes.ts';
import { createRecords, versionRecord } from '../../test/helpers/records.ts';
import { openStoreFixture, type StoreFixture } from '../../test/helpers/store-fixture.ts';
import type { BlobStore } from './blob-store.ts';
import { collect } from './collect.ts';
import { blobPath } from './folder/paths.ts';
import { verify } from './verify.ts';
import { storeBlob, writeWithBlob } from './with-blob.ts';

const bytes = bytesOf(1, 300_000);
const address = addressOfBytes(bytes);

describe('verify()', () => {
  let fixture: StoreFixture;
  beforeEach(async () => {
    fixture = await openStoreFixture();
  });
  afterEach(() => fixture.close());

  const pathOf = async (of: ContentAddress) =>
    join(fixture.dataDir, 'blobs', blobPath((await fixture.keyOf(of)) ?? of) ?? '');
  const deleteObject = async () => assert.ok(await fixture.blobs.delete((await fixture.keyOf(address)) ?? address));

  async function publish(content = bytes, parts: Pick<StoreFixture, 'store' | 'blobs' | 'clock' | 'random'> = fixture) {
    const stage = await createRecords(fixture.store).stage();
    const contentAddress = addressOfBytes(content);
    const version = versionRecord(stage.key('plugin'), { contentAddress, size: content.length });
    await writeWithBlob(parts, contentAddress, content, (tx) => tx.insertVersion(version));
    return { stage, version };
  }

  const faults = async () => (await verify(fixture)).faults.map(({ subject, detail }) => `${subject}: ${detail}`);

  /** Changes the database behind the store's back. */
  function tamper(sql: string): void {
    const database = new DatabaseSync(join(fixture.dataDir, 'tenon.db'), { enableForeignKeyConstraints: false });
    database.exec(sql);
    database.close();
  }

  it('finds no fault in intact data, and returns counts', async () => {
    await publish();
    await publish();
    await publish(bytesOf(2, 0));
    let [total, done] = [0, 0];
    const onProgress = {
      total: (sum: number) => {
        total = sum;
      },
      advance: (more: number) => {
        done += more;
      },
    };
    const found = await verify(fixture, { onProgress });
    const counts = { blobs: 2, blobBytes: 300_000, referencedContents: 2, versions: 3 };
    assert.deepEqual(found, { ...counts, faults: [], unknownObjects: [] });
    assert.deepEqual([total, done], [300_000, 300_000]);
  });

  it('finds a missing file', async () => {
    await publish();
    await deleteObject();
    assert.deepEqual(await faults(), [`content ${address}: its file is missing; 1 version references it`]);
  });

  it('finds a file with other bytes, and a truncated one', async () => {
    await publish();
    await writeFile(await pathOf(address), bytesOf(2, bytes.length));
    assert.deepEqual(await faults(), [`content ${address}: its file doesn't have the bytes of its address`]);
    await truncate(await pathOf(address), 1000);
    assert.deepEqual(await faults(), [
      `content ${address}: its file has 1000 bytes, and not 300000; 1 version references it`,
      `content ${address}: its file doesn't have the bytes of its address`,
    ]);
  });

  it('finds a version whose blob has no row, or a row in the state pending', async () => {
    await publish();
    tamper("update blobs set state = 'pending'");
    assert.deepEqual(await faults(), [`content ${address}: its row says that it is pending; 1 version references it`]);
    tamper('delete from blobs');
    assert.deepEqual(await faults(), [`content ${address}: it has no row among the blobs; 1 version references it`]);
  });

  it('finds a row without its file, also if nothing references it', async () => {
    const { stage } = await publish();
    await fixture.store.write((tx) => tx.deletePlugin(stage.key('plugin')));
    await deleteObject();
    assert.deepEqual(await faults(), [`content ${address}: its file is missing; nothing references it`]);
  });

  it('finds an object without a row, a sign of lost commits', async () => {
    await publish(bytesOf(2, 100));
    await publish();
    tamper(`delete from versions where size = ${bytes.length}; delete from blobs where size = ${bytes.length}`);
    const found = await verify(fixture);
    assert.deepEqual(
      found.unknownObjects.map(({ subject }) => subject),
      [`content ${address}`],
    );
    fixture.advance(365 * 24 * 60 * 60_000);
    await fixture.collect();
    assert.equal((await verify(fixture)).unknownObjects.length, 1, 'the evidence stays');
  });

  it('accepts blobs that are being stored or deleted', async () => {
    await fixture.store.write((tx) =>
      tx.leaseBlob({ address, size: 300_000, generation: 'a0'.repeat(12), leaseUntilMs: fixture.clock() + 1 }),
    );
    assert.deepEqual(await faults(), []);
    await storeBlob(fixture, address, bytes);
    assert.deepEqual(await faults(), []);
    const row = await fixture.store.read.blob(address);
    tamper(`delete from blobs; insert into blob_deletions values ('${address}', '${row?.generation}', 1)`);
    assert.deepEqual(await faults(), []);
    assert.deepEqual((await verify(fixture)).unknownObjects, []);
    await fixture.collect();
    assert.deepEqual(await faults(), []);
  });

  it('finds dangling references', async () => {
    const { stage } = await publish();
    tamper(`delete from apps where id = '${stage.app.id}'`);
    const found = await faults();
    assert.ok(found.length > 0);
    for (const fault of found) assert.match(fault, /^database: row .* references a missing row of apps$/);
  });

  it('finds a binding to another plugin, and one to a version that is not published', async () => {
    const { stage, version } = await publish();
    await createRecords(fixture.store).binding(version, stage.guest.id);
    const other = await createRecords(fixture.store).version(stage.key('other'), {
      contentAddress: address,
      size: 300_000,
    });
    tamper(`update bindings set versionId = '${other.id}'`);
    assert.deepEqual(await faults(), [`binding plugin of ${stage.guest.id}: references ${other.id} of another plugin`]);
    tamper(`update bindings set versionId = '${version.id}'; update versions set state = 'yanked'`);
    assert.deepEqual(await faults(), [`binding plugin of ${stage.guest.id}: binds ${version.id}, which is yanked`]);
  });

  it('finds a plugin without its newest version', async () => {
    const { stage } = await publish();
    tamper('update plugins set lastNumber = 2');
    const { extensionPointId, userId } = stage.key('plugin');
    assert.deepEqual(await faults(), [
      `plugin ${extensionPointId}/plugin/${userId}/plugin: its newest version, 2, is missing`,
    ]);
  });

  it('finds a damaged page of the database', async () => {
    const dataDir = join(fixture.dataDir, 'damaged');
    const file = join(dataDir, 'tenon.db');
    await (await openStoreFixture(dataDir)).close();
    const database = new DatabaseSync(file);
    const index = database
      .prepare("select rootpage as page from sqlite_schema where name = 'invitations_by_guest'")
      .get();
    const { page_size: pageBytes } = database.prepare('pragma page_size').get() ?? {};
    database.close();
    const handle = await open(file, 'r+');
    await handle.write(Buffer.alloc(100, 0xff), 0, 100, (Number(index?.page) - 1) * Number(pageBytes));
    await handle.close();
    const damaged = await openStoreFixture(dataDir);
    const { faults } = await verify(damaged);
    assert.ok(faults.length > 0);
    for (const { subject } of faults) assert.equal(subject, 'database');
    await damaged.close();
  });

  it('reports no fault during publishes, deletions and garbage collection', async () => {
    const other = await fixture.again();
    other.advance(60 * 60_000); // its collector takes every publish's lease for ended
    const contents = Array.from({ length: 3 }, (_, at) => bytesOf(at, 50_000));
    let isOver = false;
    let rounds = 0;
    const working = (async () => {
      while (!isOver) {
        const { stage } = await publish(contents[rounds % 3] as Uint8Array, other);
        await other.store.write((tx) => tx.deletePlugin(stage.key('plugin')));
        if (rounds % 2 === 0) await collect(other, { graceMs: 0 });
        rounds++;
      }
    })();
    for (let looks = 0; looks < 20 || rounds < 20; looks++) assert.deepEqual(await faults(), []);
    isOver = true;
    await working;
  });

  it('reports no fault for a blob that is deleted between two checks', async () => {
    const { stage } = await publish();
    let isGone = false;
    const blobs: BlobStore = {
      ...fixture.blobs,
      async size(of) {
        if (!isGone) {
          isGone = true;
          await fixture.store.write((tx) => tx.deletePlugin(stage.key('plugin')));
          fixture.advance(60 * 60_000);
          assert.equal((await fixture.collect())?.deleted, 1);
        }
        return fixture.blobs.size(of);
      },
    };
    assert.deepEqual((await verify({ ...fixture, blobs })).faults, []);
  });

  it('stops on abort', async () => {
    await publish();
    await assert.rejects(verify(fixture, { signal: AbortSignal.abort(new Error('enough')) }), /enough/);
  });
});
