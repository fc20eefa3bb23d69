import { statSync } from 'node:fs';
import { access, constants, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makeDurableFolder, syncFolder } from '../durable-folder.ts';
import { isWithoutLogFiles, retryWhileBusy } from './errors.ts';

/** How long SQLite waits for a lock, in milliseconds. It blocks the thread, so longer waits use {@link retryWhileBusy}. */
const busyTimeoutMs = 5;

/**
 * Creates the database's file if it doesn't exist, readable only by its owner. SQLite creates its other files with the same mode. An
 * existing file is not opened: closing it would release all locks of this process (https://www.sqlite.org/howtocorrupt.html §2.2).
 */
export async function createDatabaseFile(file: string): Promise<void> {
  await makeDurableFolder(dirname(file));
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await access(file, constants.R_OK | constants.W_OK);
  }
  await syncFolder(dirname(file));
}

/** Opens the connection for writes. Its commits survive a crash of the machine. */
export async function openWriter(file: string, waitMs: number): Promise<DatabaseSync> {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    // Needs an exclusive lock for a moment.
    await retryWhileBusy(() => database.exec('pragma journal_mode = wal'), waitMs);
    database.exec('pragma synchronous = full');
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** Opens the connection for reads. Readers and the writer don't block each other: https://www.sqlite.org/wal.html */
export function openReader(file: string): DatabaseSync {
  const database = openToRead(file);
  database.exec('pragma query_only = on');
  return database;
}

/**
 * Opens a database for reading, also on a read-only file system. There, a database that was not closed has its `-wal` and `-shm` files,
 * and SQLite reads them. A closed database doesn't have them, and can be opened as immutable, because nothing can write to it
 * (https://www.sqlite.org/wal.html#readonly).
 */
function openToRead(file: string): DatabaseSync {
  const open = (path: string | URL): DatabaseSync => {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: true });
    try {
      database.prepare('select 1 from sqlite_schema').get();
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  };
  try {
    return open(file);
  } catch (error) {
    if (!isWithoutLogFiles(error)) throw error;
    if (hasLog(file))
      throw new Error(`Cannot read ${file}: ${file}-shm is missing and can't be created`, { cause: error });
    const url = pathToFileURL(file);
    url.searchParams.set('immutable', '1'); // https://www.sqlite.org/uri.html#uriimmutable
    return open(url);
  }
}

/** Whether the database has a write-ahead log, because it is in use or was not closed. */
export function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
