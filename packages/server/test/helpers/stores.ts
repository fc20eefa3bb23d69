import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderBlobStore } from '../../src/blobs/folder/folder-blob-store.ts';
import { openSqliteStore } from '../../src/db/sqlite/store.ts';
import { statements } from '../../src/queries.ts';
import type { Backend } from '../contracts/backend.ts';
import { placeMigratedDatabase } from './migrated-database.ts';
import { putCalls, watchedFiles } from './watched-files.ts';

/** SQLite and a folder; a location is a folder of its own. Child processes of the contract suites import this module. */
export const backend: Backend = {
  module: import.meta.url,
  async makeLocation() {
    const location = await mkdtemp(join(tmpdir(), 'tenon-store-'));
    return { location, remove: () => rm(location, { recursive: true, force: true }) };
  },
  placeDatabase: placeMigratedDatabase,
  openStore: (location) => openSqliteStore(statements, { file: join(location, 'tenon.db') }),
  openBlobs: (location, onStep) =>
    openFolderBlobStore({ folder: join(location, 'blobs'), ...(onStep && { files: watchedFiles(onStep) }) }),
  blobSteps: putCalls,
  deletionStep: 'unlink',
};
