import { statSync } from 'node:fs';
import { access, constants, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makeDurableFolder, syncFolder } from '../durable-folder.ts';
import { isWithoutLogFiles, whenFree } from './errors.ts';

/** How long SQLite itself waits for a lock, in milliseconds: it blocks the thread meanwhile, so the waiting is done outside. */
const busyTimeoutMs = 5;

/**
 * Makes sure that the database's file is there, readable by its owner alone. SQLite gives the files beside it the same mode. One that is
 * there isn't opened: closing it again would take away all locks of this process (https://www.sqlite.org/howtocorrupt.html §2.2).
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

/** The connection that writes: what it has committed survives a crash of the machine. */
export async function openWriter(file: string, waitMs: number): Promise<DatabaseSync> {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    // Needs the database alone for a moment when another process is opening it too.
    await whenFree(() => database.exec('pragma journal_mode = wal'), waitMs);
    database.exec('pragma synchronous = full');
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** The connection that reads. Readers and the writer don't wait for each other: https://www.sqlite.org/wal.html */
export function openReader(file: string): DatabaseSync {
  const database = openToRead(file);
  database.exec('pragma query_only = on');
  return database;
}

/**
 * Opens a database to read it, also where nothing can be written. SQLite reads the log of a database that was not closed where the two
 * files beside the database are there. A database that was closed has no such files, and nothing can change it as long as they can't
 * be made: https://www.sqlite.org/wal.html#readonly
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
      throw new Error(`Cannot read ${file}: ${file}-shm is missing and cannot be made`, { cause: error });
    const url = pathToFileURL(file);
    url.searchParams.set('immutable', '1'); // https://www.sqlite.org/uri.html#uriimmutable
    return open(url);
  }
}

/** Whether processes have written to a database since it was last closed. */
export function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
