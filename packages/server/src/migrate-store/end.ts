import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { BlobStore, Store } from '../domain/ports.ts';
import { openBlobs, openStores, type StoreSettings } from '../open-stores.ts';
import type { Db } from '../store/kysely/db.ts';
import { NewerSchemaError } from '../store/kysely/migrate.ts';
import { migrations } from '../store/kysely/migrations/all.ts';
import { MigrateStoreError } from './errors.ts';
import type { Metadata } from './metadata.ts';
import { openSqliteMetadata } from './sqlite-metadata.ts';

/** One end of a move. */
export interface End {
  readonly metadata: Metadata;
  readonly blobs: BlobStore;
  /** Where each of the two is, in a text that is the same for the same place. */
  readonly place: { readonly metadata: string; readonly blobs: string };
  close(): Promise<void>;
}

/** The end that the data arrives at has a store, too, by which it can be looked through. */
export type TargetEnd = End & { readonly store: Store };

/**
 * Opens the end that data comes from, without changing anything.
 *
 * @throws MigrateStoreError `no_source` or `older_source`, NewerSchemaError, UnavailableError
 */
export async function openSource(settings: StoreSettings): Promise<End> {
  if (settings.databaseUrl === undefined && !(await isThere(join(settings.dataDir, 'tenon.db')))) {
    throw new MigrateStoreError('no_source', `There is no data in ${settings.dataDir}.`);
  }
  const metadata = await openMetadata(settings);
  try {
    await demandSchema(metadata.db);
    const blobs = await openBlobs(settings);
    return {
      metadata,
      blobs,
      place: await placesOf(settings),
      async close() {
        await blobs.close();
        await metadata.close();
      },
    };
  } catch (error) {
    await metadata.close();
    throw error;
  }
}

/**
 * Opens the end that data is to arrive at, and makes the tables there.
 *
 * @throws NewerSchemaError, UnavailableError, StorageFullError
 */
export async function openTarget(settings: StoreSettings): Promise<TargetEnd> {
  const { store, blobs } = await openStores(settings);
  try {
    const metadata = await openMetadata(settings);
    return {
      metadata,
      blobs,
      store,
      place: await placesOf(settings),
      async close() {
        await metadata.close();
        await blobs.close();
        await store.close();
      },
    };
  } catch (error) {
    await blobs.close();
    await store.close();
    throw error;
  }
}

async function openMetadata({ dataDir, databaseUrl }: StoreSettings): Promise<Metadata> {
  if (databaseUrl === undefined) return openSqliteMetadata(join(dataDir, 'tenon.db'));
  const { openPostgresMetadata } = await import('./postgres-metadata.ts');
  return openPostgresMetadata(databaseUrl);
}

async function demandSchema(db: Db): Promise<void> {
  const found = await sql<{ version: number | null }>`select max(version) as version from schema_versions`
    .execute(db)
    .then(
      ({ rows }) => rows[0]?.version ?? 0,
      (error: unknown) => {
        throw new MigrateStoreError('no_source', 'There is no store of Tenon in that database.', { cause: error });
      },
    );
  if (found > migrations.length) throw new NewerSchemaError(found, migrations.length);
  if (found === migrations.length) return;
  throw new MigrateStoreError(
    'older_source',
    `The data's schema has version ${found}, and this release's is ${migrations.length}: run this release's server on it first.`,
  );
}

async function placesOf(settings: StoreSettings): Promise<End['place']> {
  const { databaseUrl, dataDir, s3Bucket, s3Endpoint = '', s3Prefix = '' } = settings;
  const folder = await realpath(dataDir).catch(() => dataDir);
  return {
    metadata: digest(databaseUrl === undefined ? ['folder', folder] : await postgresPlace(databaseUrl)),
    blobs: digest(s3Bucket === undefined ? ['folder', folder] : ['s3', s3Endpoint, s3Bucket, s3Prefix]),
  };
}

async function postgresPlace(url: string): Promise<string[]> {
  const { default: pg } = await import('pg');
  const { host, port, database } = new pg.Client(url); // it connects when it is told to
  return ['postgres', host, String(port), database ?? ''];
}

/** What is written into the other end must not tell where this one is. */
function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
