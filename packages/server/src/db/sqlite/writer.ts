import { AsyncLocalStorage } from 'node:async_hooks';
import { rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Statements } from '../../queries.ts';
import type { Database } from '../records.ts';
import { StorageFullError, type Transaction } from '../store.ts';
import { createCommitWriter } from './commits.ts';
import { isIoError, readOnlyError } from './errors.ts';
import type { Reserve } from './reserve.ts';

export type Writer = ReturnType<typeof createWriter>;

interface WriterOptions {
  readonly statements: Statements;
  readonly db: Kysely<Database>;
  /** The connection of `db`. */
  readonly connection: DatabaseSync;
  readonly file: string;
  readonly reserve: Reserve;
}

/** Runs transactions. */
export function createWriter({ statements, db, connection, file, reserve }: WriterOptions) {
  const commits = createCommitWriter(connection);
  const current = new AsyncLocalStorage<{ open: boolean }>();
  let pinging: Promise<void> | undefined;

  /** @throws ReadOnlyError if the file system has become read-only, as Linux makes those of failing disks */
  const detectingReadOnly = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      throw isIoError(error) && isOnReadOnly(file) ? readOnlyError(error) : error;
    }
  };
  /**
   * Runs the work, and records the tags that it invalidates. On a full disk, work that frees space runs again with the reserve, and
   * other work fails until the reserve is restored.
   */
  const runTransaction = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    let tx: Transaction | undefined;
    const run = () =>
      db.transaction().execute(async (trx) => {
        const before = commits.countChanges();
        tx = statements.transaction(trx);
        const result = await work(tx);
        if (commits.countChanges() !== before) {
          if (!tx.effects.usesDiskReserve) reserve.fill();
          commits.note([...tx.effects.invalidated]);
        }
        return result;
      });
    try {
      return await run();
    } catch (error) {
      if (!tx?.effects.usesDiskReserve || !(error instanceof StorageFullError)) throw error;
    }
    await db.connection().execute(async () => {
      reserve.release();
      restartLog(connection);
    });
    return run();
  };
  /** Makes a commit that invalidates nothing. */
  const commitNothing = () =>
    db.transaction().execute(async () => {
      reserve.fill();
      commits.note([]);
    });

  return {
    async write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      if (current.getStore()?.open) throw new Error('Cannot begin a transaction inside another transaction');
      const scope = { open: true };
      try {
        return await current.run(scope, () => detectingReadOnly(() => runTransaction(work)));
      } finally {
        scope.open = false;
      }
    },
    /** Concurrent calls share a commit, because a long transaction may delay it. */
    ping(): Promise<void> {
      pinging ??= detectingReadOnly(commitNothing).finally(() => {
        pinging = undefined;
      });
      return pinging;
    },
    /** Waits for the running and queued transactions. */
    settle: () => db.connection().execute(async () => {}),
    close: () => connection.close(),
  };
}

/** Moves the log into the database, so that the next commits overwrite it: https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
function restartLog(connection: DatabaseSync): void {
  try {
    connection.exec('pragma wal_checkpoint(restart)');
  } catch {
    // The next commit reports the error.
  }
}

/** Creates a file to find out, because after an error ext4 rejects writes but still reports the file system as writable. */
function isOnReadOnly(file: string): boolean {
  const probe = `${file}-probe`;
  try {
    writeFileSync(probe, '');
    rmSync(probe, { force: true });
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}
