import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './store/sqlite/errors.ts';

/** The file that the server which holds a data folder keeps locked. */
const lockFileName = 'server.lock';

/** A data folder that this process holds: others can use it, and leave `quickstart.env` alone. */
export interface FolderHold {
  release(): void;
}

/**
 * Holds a data folder, until it is released or the process ends, however it ends. The lock is SQLite's on an empty database, because Node.js
 * has no file locks of its own.
 *
 * @returns `undefined` when another server holds the folder. Where nothing can be written, nothing has to be held
 */
export function holdFolder(folder: string): FolderHold | undefined {
  const file = join(folder, lockFileName);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('pragma journal_mode = memory; begin exclusive'); // nothing is written: no journal beside the file
  } catch (error) {
    database?.close();
    return isBusy(error) ? undefined : { release() {} };
  }
  return {
    release() {
      rmSync(file, { force: true });
      database.close();
    },
  };
}
