import { CopyObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { startFauxqs } from 'fauxqs';
import type { S3Options } from '../../src/blobs/s3/s3-blob-store.ts';

/** An object store of the test's own, which speaks S3 on a port of this machine and keeps everything in memory. */
export interface ObjectStore {
  readonly port: number;
  /** How to get to a bucket of it. */
  options(bucket: string): S3Options;
  /** Copies all objects of a bucket into another, as a backup does. @returns how many there are */
  copyBucket(from: string, to: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startObjectStore(buckets: readonly string[]): Promise<ObjectStore> {
  const server = await startFauxqs({ port: 0, logger: false, host: '127.0.0.1', init: { buckets: [...buckets] } });
  const endpoint = `http://127.0.0.1:${server.port}`;
  const credentials = { accessKeyId: 'tenon', secretAccessKey: 'a secret of the tests' };
  return {
    port: server.port,
    options: (bucket) => ({ bucket, endpoint, credentials }),
    async copyBucket(from, to) {
      const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: from }));
      for (const { Key } of Contents)
        await client.send(new CopyObjectCommand({ Bucket: to, Key, CopySource: `${from}/${Key}` }));
      client.destroy();
      return Contents.length;
    },
    stop: () => server.stop(),
  };
}
