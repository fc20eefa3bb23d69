import { startFauxqs } from 'fauxqs';
import type { S3Options } from '../../src/blobs/s3/s3-blob-store.ts';

/** An object store of the test's own, which speaks S3 on a port of this machine and keeps everything in memory. */
export interface ObjectStore {
  readonly port: number;
  /** How to get to a bucket of it. */
  options(bucket: string): S3Options;
  stop(): Promise<void>;
}

export async function startObjectStore(buckets: readonly string[]): Promise<ObjectStore> {
  const server = await startFauxqs({ port: 0, logger: false, host: '127.0.0.1', init: { buckets: [...buckets] } });
  return {
    port: server.port,
    options: (bucket) => ({
      bucket,
      endpoint: `http://127.0.0.1:${server.port}`,
      credentials: { accessKeyId: 'tenon', secretAccessKey: 'a secret of the tests' },
    }),
    stop: () => server.stop(),
  };
}
