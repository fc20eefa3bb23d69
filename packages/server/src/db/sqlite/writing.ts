import { AsyncLocalStorage } from 'node:async_hooks';
import { rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Statements } from '../../queries.ts';
import type { Database } from '../records.ts';
import { StorageFullError, type Store, type Transaction } from '../store.ts';
import { type CommitWriter, writeCommits } from './commits.ts';
import { isIoError, readOnlyError } from './errors.ts';
import type { Reserve } from './reserve.ts';

/** What changes the data of a store. */
export interface Writing extends Pick<Store, 'write' | 'pingWrite'> {
  /** Lets the transaction at work, and those that wait, finish. */
  settle(): Promise<void>;
  close(): void;
}

interface WritingOptions {
  readonly statements: Statements;
  readonly db: Kysely<Database>;
  /** The connection of `db`. */
  readonly writer: DatabaseSync;
  readonly file: string;
  readonly reserve: Reserve;
}

export function createWriting({ statements, db, writer, file, reserve }: WritingOptions): Writing {
  const commits = writeCommits(writer);
  const current = new AsyncLocalStorage<{ open: boolean }>();
  let probing: Promise<void> | undefined;

  /** @throws ReadOnlyError when the file system has become read-only, as Linux makes those of failing disks */
  const explaining = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      throw isIoError(error) && isOnReadOnly(file) ? readOnlyError(error) : error;
    }
  };

  return {
    async write(work) {
      if (current.getStore()?.open)
        throw new Error('Cannot begin a transaction inside another one: it would wait for it');
      const scope = { open: true };
      try {
        return await current.run(scope, () =>
          explaining(() => runTransaction({ statements, db, writer, reserve, commits }, work)),
        );
      } finally {
        scope.open = false;
      }
    },
    pingWrite() {
      // One at a time, however many callers have given up on it: a long transaction may hold it up.
      probing ??= explaining(() => probe({ db, reserve, commits })).finally(() => {
        probing = undefined;
      });
      return probing;
    },
    settle: () => db.connection().execute(async () => {}),
    close: () => writer.close(),
  };
}

interface RunOptions extends Omit<WritingOptions, 'file'> {
  readonly commits: CommitWriter;
}

/**
 * Runs the work, and records the tags that it invalidates. On a full disk, work that frees room is run again with the reserve, and everything else is
 * refused until there is a reserve again.
 */
async function runTransaction<T>(
  { statements, db, writer, reserve, commits }: RunOptions,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let tx: Transaction | undefined;
  const run = () =>
    db.transaction().execute(async (trx) => {
      const before = commits.countChanges();
      tx = statements.transaction(trx);
      const result = await work(tx);
      if (commits.countChanges() !== before) {
        if (!tx.effects.freesSpace) reserve.fill();
        commits.note([...tx.effects.invalidated]);
      }
      return result;
    });
  try {
    return await run();
  } catch (error) {
    if (!tx?.effects.freesSpace || !(error instanceof StorageFullError)) throw error;
  }
  await db.connection().execute(async () => {
    reserve.release();
    restartLog(writer);
  });
  return run();
}

/** Moves the log into the database, so that the next commits are written over it: https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
function restartLog(writer: DatabaseSync): void {
  try {
    writer.exec('pragma wal_checkpoint(restart)');
  } catch {
    // The next commit says what is wrong.
  }
}

/** Commits without invalidating anything. */
async function probe({ db, reserve, commits }: Pick<RunOptions, 'db' | 'reserve' | 'commits'>): Promise<void> {
  await db.transaction().execute(async () => {
    reserve.fill();
    commits.note([]);
  });
}

/** Asks by making a file: after an error, ext4 refuses changes and still says that files may be written to. */
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
