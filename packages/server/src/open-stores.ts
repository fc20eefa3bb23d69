import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { BlobStore } from './blobs/blob-store.ts';
import { openFolderBlobStore } from './blobs/folder/folder-blob-store.ts';
import { keyOfName } from './blobs/object-name.ts';
import { UnknownBlobsError } from './blobs/unknown-objects.ts';
import type { Config } from './config/config.ts';
import { reserveBytes } from './db/sqlite/reserve.ts';
import { openSqliteStore } from './db/sqlite/store.ts';
import type { Store } from './db/store.ts';
import { statements } from './queries.ts';

/** The settings for the metadata store and the blob store. */
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
 * Opens the configured stores: SQLite or PostgreSQL, and a folder or an object store. Loads only the drivers that are used, and creates
 * no folder for unused ones.
 *
 * @throws NewerSchemaError for a database of a newer version; RefusedError, UnavailableError, and file system errors
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

export async function closeStores({ store, blobs }: Stores): Promise<void> {
  await blobs.close();
  await store.close();
}

/**
 * Checks that the data folder doesn't have blobs without a database: then the database was lost, or its volume is not mounted, and the
 * server must not create an empty one.
 *
 * @throws UnknownBlobsError
 */
export async function assertDatabaseNotLost({ dataDir, databaseUrl, s3Bucket }: StoreSettings): Promise<void> {
  if (databaseUrl !== undefined || s3Bucket !== undefined) return;
  const hasDatabase = await stat(join(dataDir, 'tenon.db')).then(
    () => true,
    () => false,
  );
  if (hasDatabase) return;
  const entries = await readdir(join(dataDir, 'blobs'), { recursive: true }).catch(() => []);
  const blobCount = entries.filter((path) => keyOfName(basename(path)) !== undefined).length;
  if (blobCount > 0) throw new UnknownBlobsError(blobCount);
}

async function openMetadata({ dataDir, databaseUrl, databaseConnections }: StoreSettings): Promise<Store> {
  if (databaseUrl === undefined) {
    return openSqliteStore(statements, { file: join(dataDir, 'tenon.db'), reserveBytes });
  }
  const { openPostgresStore } = await import('./db/postgres/store.ts');
  return openPostgresStore(statements, { url: databaseUrl, connections: databaseConnections });
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
