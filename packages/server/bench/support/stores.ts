import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { S3Options } from '../../src/blobs/s3/s3-blob-store.ts';
import { noPostgres, startPostgres } from '../../test/helpers/postgres.ts';
import { openPartUploads } from './part-uploads.ts';

export const storeNames = ['embedded', 'postgres'] as const;

/** Where metadata and plugins lie: in the data folder; or in a PostgreSQL, and an object store that speaks S3. */
export type StoreName = (typeof storeNames)[number];

type Environment = Readonly<Record<string, string>>;

export interface Stores {
  /** Their processes; none where a node itself keeps everything. */
  readonly pids: readonly number[];
  /** Creates an empty store. @returns the settings with which nodes use it, and with which large contents get there */
  reserve(): Promise<{ readonly environment: Environment; readonly filling: Environment }>;
  stop(): void;
}

/** Why these stores can't be had here; `false` where they can. */
export function missingStores(name: StoreName): string | false {
  return name === 'postgres' && noPostgres;
}

export async function startStores(name: StoreName): Promise<Stores> {
  if (name === 'embedded') return { pids: [], reserve: async () => ({ environment: {}, filling: {} }), stop: () => {} };
  const postgres = await startPostgres(18, { isDurable: true });
  const objects = fork(new URL('./object-store-process.ts', import.meta.url));
  const [options] = (await once(objects, 'message')) as [S3Options];
  const uploads = await openPartUploads(options);
  const { bucket, endpoint = '', credentials } = options;
  let reserved = 0;
  return {
    pids: [postgres.pid ?? 0, objects.pid ?? 0],
    async reserve() {
      const environment = {
        TENON_DATABASE_URL: (await postgres.createDatabase()).url,
        TENON_S3_BUCKET: bucket,
        TENON_S3_PREFIX: `${++reserved}/`,
        TENON_S3_ENDPOINT: endpoint,
        TENON_S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
        TENON_S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
      };
      return { environment, filling: { ...environment, TENON_S3_ENDPOINT: uploads.url } };
    },
    stop() {
      uploads.close();
      objects.disconnect();
      postgres.stop();
    },
  };
}
