import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../src/config.ts';
import { verify } from '../src/domain/housekeeping/verify.ts';
import { UnavailableError } from '../src/domain/ports.ts';
import { MigrateStoreError, type MigrateStoreErrorCode } from '../src/migrate-store/errors.ts';
import { type MigratedStore, type MigrateStep, migrateStore } from '../src/migrate-store/migrate-store.ts';
import { thawStore } from '../src/migrate-store/thaw.ts';
import { openStores, type StoreSettings } from '../src/open-stores.ts';
import { copiedTables } from '../src/store/kysely/tables.ts';
import { addressOfBytes } from './helpers/bytes.ts';
import { dump } from './helpers/dump.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';
import { createRecords } from './helpers/records.ts';
import { type ObjectStore, startObjectStore } from './helpers/s3.ts';
import { openService, type TestService } from './helpers/service.ts';
import { tinyModule } from './helpers/world.ts';

const steps: readonly MigrateStep[] = [
  'copy_contents',
  'copy_tables',
  'freeze',
  'copy_rest',
  'compare',
  'hand_over',
  'open',
];

const embedded = (dataDir: string): StoreSettings => {
  const none = undefined as never;
  return {
    dataDir,
    databaseUrl: none,
    databaseConnections: 4,
    s3Bucket: none,
    s3Endpoint: none,
    s3Region: none,
    s3Prefix: none,
    s3AccessKeyId: none,
    s3SecretAccessKey: none,
    s3PathStyle: none,
  };
};

const move = (
  from: StoreSettings,
  to: StoreSettings,
  onStep: (step: MigrateStep) => void | Promise<void> = () => {},
): Promise<MigratedStore> => migrateStore({ from, to, clock: Date.now, random: randomBytes, onStep });

const refused = (code: MigrateStoreErrorCode) => (error: unknown) =>
  error instanceof MigrateStoreError && error.code === code;

/** Whether a change is made there, by somebody who opens it now. */
async function takesChanges(settings: StoreSettings): Promise<boolean> {
  const { store, blobs } = await openStores(settings);
  try {
    await createRecords(store).user();
    return true;
  } catch (error) {
    if (error instanceof UnavailableError) return false;
    throw error;
  } finally {
    await blobs.close();
    await store.close();
  }
}

async function demandWhole(settings: StoreSettings): Promise<void> {
  const { store, blobs } = await openStores(settings);
  assert.deepEqual((await verify({ store, blobs })).faults, []);
  await blobs.close();
  await store.close();
}

/** Publishes one version after the other until told to stop; the numbers of those that were answered. */
function keepPublishing(workshop: Workshop): { readonly done: number[]; stop(): Promise<number[]> } {
  const done: number[] = [];
  let isOn = true;
  const running = (async () => {
    for (let number = 1000; isOn; number++) {
      const { statusCode, payload, headers } = await workshop.tryPublish(number);
      if (statusCode === 503) {
        assert.ok(headers['retry-after'], 'says when to come again');
        await sleep(5);
      } else {
        assert.ok(statusCode < 300, payload);
        done.push(number);
      }
    }
  })();
  return {
    done,
    async stop() {
      isOn = false;
      await running;
      return done;
    },
  };
}

for (const major of [15, 18] as const) {
  describe(`migrateStore() between SQLite and PostgreSQL ${major} with an object store`, { skip: noPostgres }, () => {
    let postgres: PostgresServer;
    let objects: ObjectStore;
    let service: TestService;
    let workshop: Workshop;
    let folder: string;
    let prefixes = 0;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tenon-move-'));
      [postgres, objects] = await Promise.all([startPostgres(major), startObjectStore(['plugins'])]);
      service = await openService();
      workshop = await openWorkshop(service);
      for (let number = 1; number <= 5; number++) await workshop.publish(number);
      const records = createRecords(service.store);
      for (let count = 0; count < 600; count++) await records.user({ name: `Nutzer ${count} é 🦀` }); // more than one batch
    });
    after(async () => {
      await service.close();
      postgres.stop();
      await objects.stop();
      await rm(folder, { recursive: true, force: true });
    });

    async function remote(): Promise<StoreSettings & Partial<Config>> {
      const { bucket, endpoint, credentials } = objects.options('plugins');
      return {
        ...embedded(folder),
        databaseUrl: (await postgres.createDatabase()).url,
        s3Bucket: bucket,
        s3Endpoint: endpoint,
        s3Prefix: `${++prefixes}/`,
        s3AccessKeyId: credentials?.accessKeyId,
        s3SecretAccessKey: credentials?.secretAccessKey,
      } as StoreSettings;
    }

    const listPath = () => `/api/v1/extension-points/${workshop.extensionPointId}/bindings/first`;

    it('moves a server at work there and back, with all that was answered, while it goes on to answer', async () => {
      const [from, to, back] = [embedded(service.dataDir), await remote(), embedded(join(folder, 'back'))];
      const { token } = workshop.viewer;
      const writer = keepPublishing(workshop);
      const during: MigrateStep[] = [];
      const moved = await move(from, to, async (step) => {
        during.push(step);
        const before = writer.done.length;
        if (during.length <= 3) {
          while (writer.done.length < before + 2) await sleep(5); // nothing has stopped them yet
        } else {
          assert.equal((await service.call('GET', listPath(), { token })).statusCode, 200, 'answers still');
          assert.equal((await workshop.tryPublish(1)).statusCode, 503, 'takes no changes');
        }
      });
      assert.deepEqual(during, steps);
      const numbers = await writer.stop();
      assert.equal((await workshop.tryPublish(2)).statusCode, 503, 'stays frozen');

      assert.deepEqual(await dump(to), await dump(from));
      assert.equal(moved.contents, 5 + numbers.length);
      await demandWhole(to);

      const there = await openService({ config: to });
      try {
        const [old, now] = [
          await service.call('GET', listPath(), { token }),
          await there.call('GET', listPath(), { token }),
        ];
        assert.equal(now.payload, old.payload);
        assert.equal(now.headers.etag, old.headers.etag);
        for (const number of [1, ...numbers]) {
          const address = addressOfBytes(tinyModule(number));
          const { rawPayload } = await there.call('GET', `/api/v1/c/${address}`, { token: workshop.owner.token });
          assert.deepEqual(rawPayload, tinyModule(number), `module ${number}`);
        }
        const goesOn = await there.call('PUT', workshop.path('another'), {
          token: workshop.publisher.token,
          body: tinyModule(3),
          headers: { 'content-type': 'application/wasm' },
        });
        assert.ok(goesOn.statusCode < 300, goesOn.payload);
      } finally {
        await there.close();
      }

      await move(to, back);
      assert.deepEqual(await dump(back), await dump(to));
      await demandWhole(back);
      assert.deepEqual([await takesChanges(to), await takesChanges(back)], [false, true]);

      await assert.rejects(move(from, await remote()), refused('moved'));
      await assert.rejects(thawStore({ store: from }), refused('moved'));
      assert.equal(await thawStore({ store: from, force: true }), true);
      assert.equal(await thawStore({ store: from }), false);
      await workshop.publish(4000);
    });

    it('killed before any step, never leaves both taking changes, and goes on when it is called again', async () => {
      const [from, to] = [embedded(service.dataDir), await remote()];
      const isFrozenAt: boolean[] = [];
      for (const step of steps) {
        const child = spawn(
          process.execPath,
          [
            fileURLToPath(new URL('helpers/migrate-store-child.ts', import.meta.url)),
            JSON.stringify({ from, to }),
            step,
          ],
          { stdio: ['ignore', 'ignore', 'inherit'] },
        );
        const [, signal] = await once(child, 'exit');
        assert.equal(signal, 'SIGKILL', `killed before ${step}`);
        assert.equal(await takesChanges(to), false, `the target before ${step}`);
        isFrozenAt.push(!(await takesChanges(from)));
        if (step === 'copy_rest') await assert.rejects(thawStore({ store: to }), refused('arriving'));
        if (step === 'compare') assert.equal(await thawStore({ store: from }), true, 'the way out');
      }
      assert.deepEqual(isFrozenAt, [false, false, false, true, true, true, true]);
      await move(from, to);
      assert.deepEqual(await dump(to), await dump(from));
      await demandWhole(to);
      assert.deepEqual([await takesChanges(from), await takesChanges(to)], [false, true]);
      assert.equal(await thawStore({ store: from, force: true }), true);
    });

    it('has the source take changes again when it fails, and goes on with what has changed since', async () => {
      const [from, to] = [embedded(service.dataDir), await remote()];
      for (const step of ['copy_tables', 'compare'] as const) {
        const failing = move(from, to, (at) => {
          if (at === step) throw new Error('the disk is on fire');
        });
        await assert.rejects(failing, /on fire/);
        assert.deepEqual([await takesChanges(from), await takesChanges(to)], [true, false]);
      }
      await workshop.publish(5000); // new rows, and changed ones
      await service.call('DELETE', workshop.path('another'), { token: workshop.publisher.token });
      await move(from, to);
      assert.deepEqual(await dump(to), await dump(from));
      await thawStore({ store: from, force: true });
    });

    it('refuses a target that holds anything, is the source, or waits for other data', async () => {
      const from = embedded(service.dataDir);
      const [full, waiting] = [await remote(), await remote()];
      assert.equal(await takesChanges(full), true);
      const before = await dump(full);
      await assert.rejects(move(from, full), refused('not_empty'));
      assert.deepEqual(await dump(full), before);
      assert.equal(await takesChanges(full), true, 'it is as it was');
      await assert.rejects(move(from, from), refused('same_store'));
      await assert.rejects(move(embedded(join(folder, 'nothing')), waiting), refused('no_source'));

      const stopped = move(from, waiting, () => Promise.reject(new Error('stopped')));
      await assert.rejects(stopped, /stopped/);
      await assert.rejects(move(full, waiting), refused('not_empty'));
      await assert.rejects(move(waiting, await remote()), refused('arriving'));
      const withBytes = await remote();
      await assert.rejects(move(from, { ...withBytes, s3Prefix: '1/' as never }), refused('not_empty'));
      assert.equal(await takesChanges(from), true);
    });
  });
}

describe('copiedTables', () => {
  it('has every table, those that others refer to first', async (t) => {
    const { DatabaseSync } = await import('node:sqlite');
    const dataDir = await mkdtemp(join(tmpdir(), 'tenon-tables-'));
    t.after(() => rm(dataDir, { recursive: true }));
    const { store, blobs } = await openStores(embedded(dataDir));
    await blobs.close();
    await store.close();
    const database = new DatabaseSync(join(dataDir, 'tenon.db'), { readOnly: true });
    t.after(() => database.close());
    const names = copiedTables.map(({ name }) => String(name));
    const all = database.prepare("select name from sqlite_schema where type = 'table'").all();
    assert.deepEqual([...names, 'leases', 'schema_versions'].sort(), all.map(({ name }) => String(name)).sort());
    for (const { name, key } of copiedTables) {
      const columns = database.prepare('select name from pragma_table_info(?) where pk > 0 order by pk').all(name);
      assert.deepEqual(
        key,
        columns.map((column) => column.name),
        name,
      );
      for (const { table } of database.prepare('select * from pragma_foreign_key_list(?)').all(name)) {
        assert.ok(names.indexOf(String(table)) < names.indexOf(name), `${table} before ${name}`);
      }
    }
  });
});
