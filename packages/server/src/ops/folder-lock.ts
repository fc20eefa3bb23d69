import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from '../db/sqlite/errors.ts';

const lockFileName = 'server.lock';

/** A lock on a data folder. Other servers can use the folder without it, but don't write `quickstart.env`. */
interface FolderLock {
  release(): void;
}

/**
 * Locks a data folder until `release()` or the end of the process, even by SIGKILL. Node.js has no file locks, so this locks an empty
 * SQLite database.
 *
 * @returns `undefined` when another server has the lock. In a read-only folder, a lock without effect
 */
export function lockFolder(folder: string): FolderLock | undefined {
  const file = join(folder, lockFileName);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('pragma journal_mode = memory; begin exclusive'); // no journal file
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
