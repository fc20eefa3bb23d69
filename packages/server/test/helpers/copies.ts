import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '../../src/blobs/verify.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Clock } from '../../src/db/store.ts';
import { openData } from '../../src/open-services.ts';
import { closeStores, openStores, type StoreSettings } from '../../src/open-stores.ts';
import { type CopiedStore, type CopyOptions, copyStore } from '../../src/ops/copy/copy-store.ts';
import { CopyError, type CopyErrorCode } from '../../src/ops/copy/errors.ts';
import { openWorkshop, type Workshop } from './plugins.ts';
import { type Major, startPostgres } from './postgres.ts';
import { createRecords } from './records.ts';
import { startObjectStore } from './s3.ts';
import { openService, type TestService } from './service.ts';

/** A service on a data folder, with some data, and empty stores to copy it to. */
export interface CopyGround {
  readonly service: TestService;
  readonly workshop: Workshop;
  /** The service's store. */
  readonly home: StoreSettings;
  /** A folder for copies, deleted in the end. */
  readonly folder: string;
  /** Settings of an empty database with an empty prefix of a bucket. */
  remote(): Promise<StoreSettings>;
  close(): Promise<void>;
}

export async function openCopyGround(major: Major): Promise<CopyGround> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-copy-'));
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

/** Settings of the store in a data folder. */
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

export const copy = (
  from: StoreSettings,
  to: StoreSettings,
  options: Pick<CopyOptions, 'onStep' | 'onProgress' | 'signal'> & { clock?: Clock } = {},
): Promise<CopiedStore> => copyStore({ from, to, clock: Date.now, random: randomBytes, ...options });

/** What an error of that code is. */
export const refused = (code: CopyErrorCode) => (error: unknown) => {
  assert.ok(error instanceof CopyError, String(error));
  assert.equal(error.code, code, error.message);
  return true;
};

/** Opens a store as a server does, and closes it. @throws CopyError for an unfinished copy */
export async function openAsServer(settings: StoreSettings): Promise<void> {
  const data = await openData({ ...loadConfig({}, {}), ...settings });
  await data.close();
}

/** Fails unless `verify` finds nothing wrong. */
export async function assertVerifies(settings: StoreSettings): Promise<void> {
  const stores = await openStores(settings);
  const { faults, unknownObjects } = await verify(stores);
  await closeStores(stores);
  assert.deepEqual([faults, unknownObjects], [[], []]);
}
