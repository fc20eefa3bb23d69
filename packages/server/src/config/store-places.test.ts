import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadConfig } from './config.ts';
import { describeStore } from './store-places.ts';

it('describeStore() names each kind of store, and no credentials', () => {
  const database = { TENON_DATABASE_URL: 'postgresql://tenon:s3cret@db.internal:5433/tenon?password=s3cret' };
  const socket = { TENON_DATABASE_URL: 'postgresql:///tenon?host=/run/postgresql' };
  const noUrl = { TENON_DATABASE_URL: 'postgresql://tenon:s3cret@a,b:x/tenon' };
  const bucket = { TENON_S3_BUCKET: 'plugins', TENON_S3_ACCESS_KEY_ID: 'key', TENON_S3_SECRET_ACCESS_KEY: 's3cret' };
  const minio = { ...bucket, TENON_S3_ENDPOINT: 'http://minio:9000', TENON_S3_PREFIX: 'tenon' };
  const cases: readonly [Readonly<Record<string, string>>, string][] = [
    [{}, 'folder ./tenon-data'],
    [{ TENON_DATA_DIR: '/var/lib/tenon' }, 'folder /var/lib/tenon'],
    [{ ...database, ...bucket }, 'PostgreSQL db.internal:5433/tenon, bucket plugins'],
    [{ ...socket, ...minio }, 'PostgreSQL /run/postgresql/tenon, bucket plugins/tenon at minio:9000'],
    [database, 'PostgreSQL db.internal:5433/tenon, folder tenon-data/blobs'],
    [bucket, 'SQLite tenon-data/tenon.db, bucket plugins'],
    [{ ...noUrl, ...bucket }, 'PostgreSQL database, bucket plugins'],
  ];
  for (const [environment, expected] of cases) assert.equal(describeStore(loadConfig({}, environment)), expected);
});
