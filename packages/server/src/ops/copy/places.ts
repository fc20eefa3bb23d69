import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import type { StoreSettings } from '../../open-stores.ts';

/** Where a store's metadata and blobs are, as texts that are equal for equal places and reveal nothing. */
export interface Places {
  readonly metadata: string;
  readonly blobs: string;
}

export async function placesOf(settings: StoreSettings): Promise<Places> {
  const { databaseUrl, dataDir, s3Bucket, s3Endpoint = '', s3Prefix = '' } = settings;
  const folder = await realpath(dataDir).catch(() => dataDir);
  return {
    metadata: digest(databaseUrl === undefined ? ['folder', folder] : await postgresPlace(databaseUrl)),
    blobs: digest(s3Bucket === undefined ? ['folder', folder] : ['s3', s3Endpoint, s3Bucket, s3Prefix]),
  };
}

async function postgresPlace(url: string): Promise<string[]> {
  const { default: pg } = await import('pg');
  const { host, port, database } = new pg.Client(url); // not connected
  return ['postgres', host, String(port), database ?? ''];
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
