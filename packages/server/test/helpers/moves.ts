import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '../../src/domain/housekeeping/verify.ts';
import { UnavailableError } from '../../src/domain/ports.ts';
import { MigrateStoreError, type MigrateStoreErrorCode } from '../../src/migrate-store/errors.ts';
import { type MigratedStore, type MigrateStep, migrateStore } from '../../src/migrate-store/migrate-store.ts';
import { openStores, type StoreSettings } from '../../src/open-stores.ts';
import { openWorkshop, type Workshop } from './plugins.ts';
import { type Major, startPostgres } from './postgres.ts';
import { createRecords } from './records.ts';
import { startObjectStore } from './s3.ts';
import { openService, type TestService } from './service.ts';

/** A service on a data folder, with some data, and places for it to move to. */
export interface MoveGround {
  readonly service: TestService;
  readonly workshop: Workshop;
  /** What the service's data is in. */
  readonly home: StoreSettings;
  /** Removed in the end. */
  readonly folder: string;
  /** Settings of an empty database with an empty stretch of a bucket. */
  remote(): Promise<StoreSettings>;
  close(): Promise<void>;
}

export async function openMoveGround(major: Major): Promise<MoveGround> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-move-'));
  const [postgres, objects] = await Promise.all([startPostgres(major), startObjectStore(['plugins'])]);
  const service = await openService();
  const workshop = await openWorkshop(service);
  for (let number = 1; number <= 5; number++) await workshop.publish(number);
  await service.store.write(async (tx) => {
    const records = createRecords({ ...service.store, write: (work) => work(tx) });
    for (let count = 0; count < 600; count++) await records.user({ name: `Nutzer ${count} é 🦀` }); // more than one batch
  });
  let prefixes = 0;
  return {
    service,
    workshop,
    home: embedded(service.dataDir),
    folder,
    async remote() {
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
    },
    async close() {
      await service.close();
      postgres.stop();
      await objects.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Settings of a store in a data folder. */
export const embedded = (dataDir: string): StoreSettings => {
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

/** Moves a store in this process. */
export const move = (
  from: StoreSettings,
  to: StoreSettings,
  onStep: (step: MigrateStep) => void | Promise<void> = () => {},
  rehash = false,
): Promise<MigratedStore> => migrateStore({ from, to, clock: Date.now, random: randomBytes, onStep, rehash });

/** What an error of that code is. */
export const refused = (code: MigrateStoreErrorCode) => (error: unknown) =>
  error instanceof MigrateStoreError && error.code === code;

/** Whether a change is made there, by somebody who opens it now. */
export async function takesChanges(settings: StoreSettings): Promise<boolean> {
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

/** Fails unless `verify` finds no fault. */
export async function demandWhole(settings: StoreSettings): Promise<void> {
  const { store, blobs } = await openStores(settings);
  assert.deepEqual((await verify({ store, blobs })).faults, []);
  await blobs.close();
  await store.close();
}
