import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderBlobStore } from '../../src/blobs/folder/folder-blob-store.ts';
import { openPostgresStore } from '../../src/db/postgres/store.ts';
import { statements } from '../../src/queries.ts';
import type { Backend } from '../contracts/backend.ts';
import { type Major, type SharedPostgres, sharedPostgres, startPostgres } from './postgres.ts';
import { putCalls, watchedFiles } from './watched-files.ts';

const stores: Omit<Backend, 'makeLocation'> = {
  module: import.meta.url,
  openStore: (location) => openPostgresStore(statements, { url: location.split(' ')[0] ?? '' }),
  openBlobs: (location, onStep) =>
    openFolderBlobStore({
      folder: join(location.split(' ')[1] ?? '', 'blobs'),
      ...(onStep && { files: watchedFiles(onStep) }),
    }),
  blobSteps: putCalls,
  deletionStep: 'unlink',
};

/**
 * PostgreSQL and a folder; a location is a database's URL, a space, and the folder. Child processes of the contract suites
 * import this module, and start no server of their own.
 */
export function backendOn(major: Major): Backend {
  let server: Promise<SharedPostgres> | undefined;
  return {
    ...stores,
    async makeLocation() {
      server ??= major === 18 ? sharedPostgres() : startPostgres(major);
      const { url, drop } = await (await server).createDatabase();
      const folder = await mkdtemp(join(tmpdir(), 'tenon-store-'));
      return {
        location: `${url} ${folder}`,
        async remove() {
          await drop();
          await rm(folder, { recursive: true, force: true });
        },
      };
    },
  };
}

export const backend: Backend = backendOn(18);
