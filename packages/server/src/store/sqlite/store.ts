import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { watchTouched } from '../../domain/memories/touched.ts';
import type { Clock, Store, Transaction } from '../../domain/ports.ts';
import { checkRows } from '../kysely/check.ts';
import { demandThawed } from '../kysely/freeze.ts';
import { migrate } from '../kysely/migrate.ts';
import { migrations } from '../kysely/migrations/all.ts';
import { queries, transaction } from '../kysely/queries.ts';
import type { Database } from '../kysely/schema.ts';
import { sizesOf } from '../kysely/sizes.ts';
import { checkFile } from './check-file.ts';
import { columnTypes } from './column-types.ts';
import { type CommitReader, createCommitTable, noteCommit, readCommits } from './commits.ts';
import { readingDialect, writingDialect } from './dialect.ts';
import { translateError } from './errors.ts';
import { estimateRows, factsOf } from './facts.ts';
import { createDatabaseFile, openReader, openWriter } from './files.ts';
import { whenFree } from './patience.ts';

export interface SqliteStoreOptions {
  /** The database's file. It is made when it isn't there, with the folders above it, for its owner alone. */
  readonly file: string;
  /** Tells when a migration was applied. Default: `Date.now`. */
  readonly clock?: Clock;
  /** How long to wait while others write, in milliseconds, before `UnavailableError`. Default: 10,000. */
  readonly waitMs?: number;
}

/**
 * Opens the metadata store in one SQLite file, and migrates it. Any number of processes of one machine may have it open.
 *
 * @throws NewerSchemaError for a file that a newer release has written to, StorageFullError, UnavailableError
 */
export async function openSqliteStore({ file, clock = Date.now, waitMs = 10_000 }: SqliteStoreOptions): Promise<Store> {
  await createDatabaseFile(file);
  const writer = await openWriter(file, waitMs);
  try {
    const dialect = writingDialect({ database: writer, waitMs });
    const migrationDb = new Kysely<unknown>({ dialect });
    await migrate((work) => migrationDb.transaction().execute(work), migrations, columnTypes, clock);
    await whenFree(() => createCommitTable(writer), waitMs);
    return await createStore({
      writeDb: new Kysely<Database>({ dialect }),
      writer,
      reader: openReader(file),
      file,
      waitMs,
    });
  } catch (error) {
    writer.close();
    throw error;
  }
}

interface Parts {
  readonly writeDb: Kysely<Database>;
  readonly writer: DatabaseSync;
  readonly reader: DatabaseSync;
  readonly file: string;
  readonly waitMs: number;
}

async function createStore({ writeDb, writer, reader, file, waitMs }: Parts): Promise<Store> {
  const readDb = new Kysely<Database>({ dialect: readingDialect({ database: reader, waitMs }) });
  const read = queries(readDb);
  const commits = await whenFree(() => readCommits(reader, file), waitMs);
  const current = new AsyncLocalStorage<{ open: boolean }>();
  let closing: Promise<void> | undefined;
  let writing: Promise<void> | undefined;
  // Asked once in a turn of the event loop. What arrives in a turn was sent before it began, so nobody who knows of another
  // process's commit is answered from before it; this store's own commits are forgotten about at once.
  let knownRevision: number | undefined;
  const forgetRevision = (): void => {
    knownRevision = undefined;
  };

  const write: Store['write'] = async (work) => {
    if (current.getStore()?.open)
      throw new Error('Cannot begin a transaction inside another one: it would wait for it');
    const scope = { open: true };
    try {
      return await current.run(scope, () => runTransaction(writeDb, work));
    } finally {
      scope.open = false;
      forgetRevision();
    }
  };

  return {
    read,
    write,
    writeLocking: write, // a transaction has the whole file locked
    revision() {
      if (knownRevision !== undefined) return knownRevision;
      try {
        knownRevision = commits.version();
        setImmediate(forgetRevision);
        return knownRevision;
      } catch (error) {
        throw translateError(error);
      }
    },
    onCommitted: commits.onCommitted,
    isRevisionTrusted: () => true,
    async check() {
      return [...(await whenFree(() => checkFile(reader), waitMs)), ...(await checkRows(readDb))];
    },
    facts: () => factsOf(readDb),
    sizes: () => sizesOf(readDb, estimateRows(readDb)),
    async ping() {
      await whenFree(commits.version, waitMs);
    },
    pingWrite() {
      // One at a time, however many callers have given up on it: a long transaction may hold it up.
      writing ??= probe(writeDb).finally(() => {
        writing = undefined;
        forgetRevision();
      });
      return writing;
    },
    close() {
      closing ??= close({ writeDb, writer, reader }, commits);
      return closing;
    },
  };
}

/** Runs the work, notes what it has touched, and refuses what it has changed when the store takes no changes. */
async function runTransaction<T>(writeDb: Kysely<Database>, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return writeDb.transaction().execute(async (db) => {
    const before = await countChanges(db);
    const { tx, touched } = watchTouched(transaction(db));
    const result = await work(tx);
    if ((await countChanges(db)) !== before) {
      await demandThawed(db);
      await noteCommit(db, touched());
    }
    return result;
  });
}

/** Commits a change that touches nothing. */
async function probe(writeDb: Kysely<Database>): Promise<void> {
  await writeDb.transaction().execute((db) => noteCommit(db, []));
}

/** How many rows this connection has changed so far: https://www.sqlite.org/lang_corefunc.html#total_changes */
async function countChanges(db: Kysely<Database>): Promise<number | undefined> {
  const { rows } = await sql<{ changes: number }>`select total_changes() as changes`.execute(db);
  return rows[0]?.changes;
}

/** Lets the transaction at work, and those that wait, finish. The writer goes last: it folds the log into the file. */
async function close(
  { writeDb, writer, reader }: Pick<Parts, 'writeDb' | 'writer' | 'reader'>,
  commits: CommitReader,
): Promise<void> {
  try {
    await writeDb.connection().execute(async () => {});
  } finally {
    reader.close();
    commits.close();
    writer.close();
  }
}
