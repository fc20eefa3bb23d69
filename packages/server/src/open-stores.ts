import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openFolderBlobStore } from './blobs/fs/folder-blob-store.ts';
import { keyOfName } from './blobs/object-name.ts';
import type { Config } from './config.ts';
import { UnknownBlobsError } from './domain/housekeeping/unknown-objects.ts';
import type { BlobStore, Store } from './domain/ports.ts';
import { reserveBytes } from './store/sqlite/reserve.ts';
import { openSqliteStore } from './store/sqlite/store.ts';

/** What says where metadata and plugins are kept. */
export type StoreSettings = Pick<
  Config,
  | 'dataDir'
  | 'databaseUrl'
  | 'databaseConnections'
  | 's3Bucket'
  | 's3Endpoint'
  | 's3Region'
  | 's3Prefix'
  | 's3AccessKeyId'
  | 's3SecretAccessKey'
  | 's3PathStyle'
>;

export interface Stores {
  readonly store: Store;
  readonly blobs: BlobStore;
}

/**
 * Opens the stores that the configuration names: embedded ones in the data folder, PostgreSQL, an object store. What is not
 * used is not even loaded, nor a folder made for it.
 *
 * @throws NewerSchemaError when a newer version wrote the metadata, RefusedError, UnavailableError, and the file system's errors
 */
export async function openStores(settings: StoreSettings): Promise<Stores> {
  const store = await openMetadata(settings);
  try {
    return { store, blobs: await openBlobs(settings) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Makes sure that no database is made in a data folder whose blobs show that there was one: it was lost, or its volume is not mounted.
 *
 * @throws UnknownBlobsError; nothing is changed then
 */
export async function assertNotReplaced({ dataDir, databaseUrl, s3Bucket }: StoreSettings): Promise<void> {
  if (databaseUrl !== undefined || s3Bucket !== undefined) return;
  const isThere = await stat(join(dataDir, 'tenon.db')).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const entries = await readdir(join(dataDir, 'blobs'), { recursive: true }).catch(() => []);
  const found = entries.filter((path) => keyOfName(basename(path)) !== undefined).length;
  if (found > 0) throw new UnknownBlobsError(found);
}

async function openMetadata({ dataDir, databaseUrl, databaseConnections }: StoreSettings): Promise<Store> {
  if (databaseUrl === undefined) {
    return openSqliteStore({ file: join(dataDir, 'tenon.db'), reserveBytes });
  }
  const { openPostgresStore } = await import('./store/postgres/store.ts');
  return openPostgresStore({ url: databaseUrl, connections: databaseConnections });
}

export async function openBlobs(settings: StoreSettings): Promise<BlobStore> {
  const { dataDir, s3Bucket, s3AccessKeyId, s3SecretAccessKey } = settings;
  if (s3Bucket === undefined) return openFolderBlobStore({ folder: join(dataDir, 'blobs') });
  const { openS3BlobStore } = await import('./blobs/s3/s3-blob-store.ts');
  const hasKey = s3AccessKeyId !== undefined && s3SecretAccessKey !== undefined;
  return openS3BlobStore({
    bucket: s3Bucket,
    endpoint: settings.s3Endpoint,
    region: settings.s3Region,
    prefix: settings.s3Prefix,
    forcePathStyle: settings.s3PathStyle,
    credentials: hasKey ? { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey } : undefined,
  });
}
