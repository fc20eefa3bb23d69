import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from './errors.ts';

const pollMs = 20;
const timeoutMs = 10_000;
/** SQLITE_BUSY: another connection has the lock. https://sqlite.org/rescode.html#busy */
const busy = 5;

/**
 * Does work while no other process does any under the same file.
 *
 * Node has no locks of its own, and a file that stands for one stays behind when its maker dies. SQLite has them on every
 * platform, and the system gives them up with the process: the file is an empty database, and a transaction on it is the lock.
 *
 * @param path a file that is there, or in a folder that can be written to
 * @throws CliError `locked` after ten seconds
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY'); // Nothing is ever written: a full disk is for the work to meet.
    for (let waitedMs = 0; !tryToBegin(database); waitedMs += pollMs) {
      if (waitedMs >= timeoutMs) throw new CliError('locked', `Another tenon is working on ${path}, and does not end.`);
      await sleep(pollMs);
    }
    return await work();
  } finally {
    database.close();
  }
}

function tryToBegin(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw error;
  }
}
