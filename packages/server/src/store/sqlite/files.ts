import { access, constants, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDurableFolder, syncFolder } from '../../durable-folder.ts';
import { whenFree } from './patience.ts';

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
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, readOnly: true });
  database.exec('pragma query_only = on');
  return database;
}
