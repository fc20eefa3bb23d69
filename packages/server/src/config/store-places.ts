import { join } from 'node:path';
import type { Settings } from './settings.ts';

export type StorePlaceSettings = Pick<Settings, 'dataDir' | 'databaseUrl' | 's3Bucket' | 's3Endpoint' | 's3Prefix'>;

/** Names both stores without credentials, such as `db.internal/tenon` and `tenon-plugins`; embedded stores by their path. */
export function storePlaces({ dataDir, databaseUrl, s3Bucket, s3Endpoint, s3Prefix }: StorePlaceSettings) {
  const prefix = s3Prefix === '' ? '' : `/${s3Prefix}`;
  const endpoint = s3Endpoint === undefined ? '' : ` at ${new URL(s3Endpoint).host}`;
  return {
    metadata: databaseUrl === undefined ? join(dataDir, 'tenon.db') : databasePlace(databaseUrl),
    blobs: s3Bucket === undefined ? join(dataDir, 'blobs') : `${s3Bucket}${prefix}${endpoint}`,
  };
}

/** Names the store of a server in messages: `folder ./tenon-data`, or `PostgreSQL db.internal/tenon, bucket tenon-plugins`. */
export function describeStore(settings: StorePlaceSettings): string {
  const { dataDir, databaseUrl, s3Bucket } = settings;
  if (databaseUrl === undefined && s3Bucket === undefined) return `folder ${dataDir}`;
  const { metadata, blobs } = storePlaces(settings);
  const database = databaseUrl === undefined ? 'SQLite' : 'PostgreSQL';
  return `${database} ${metadata}, ${s3Bucket === undefined ? 'folder' : 'bucket'} ${blobs}`;
}

/** The host and the name of a database. Without a host in its authority, the URL has it in its query, or means a local socket. */
function databasePlace(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url === null) return 'database';
  return `${url.host || (url.searchParams.get('host') ?? 'localhost')}${url.pathname}`;
}
