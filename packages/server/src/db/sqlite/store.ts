import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Statements } from '../../queries.ts';
import type { StoreFault } from '../blob-records.ts';
import { checkRows } from '../check-queries.ts';
import { migrate, NewerSchemaError } from '../migrate.ts';
import { migrations } from '../migrations/all.ts';
import type { Database } from '../records.ts';
import { type Clock, StorageFullError, type Store, UnavailableError } from '../store.ts';
import { createCommitTable, readCommits } from './commits.ts';
import { columnTypes, readingDialect, writingDialect } from './dialect.ts';
import { readOnlyError, translateError, whenFree } from './errors.ts';
import { createDatabaseFile, hasLog, openReader, openWriter } from './files.ts';
import { createReserve, type Reserve } from './reserve.ts';
import { createWriting, type Writing } from './writing.ts';

const defaultWaitMs = 10_000;

interface SqliteStoreOptions {
  /** The database's file. It is made when it isn't there, with the folders above it, for its owner alone. */
  readonly file: string;
  /** Tells when a migration was applied. Default: `Date.now`. */
  readonly clock?: Clock;
  /** How long to wait while others write, in milliseconds, before `UnavailableError`. Default: 10,000. */
  readonly waitMs?: number;
  /** How many bytes a file beside the database keeps for deletions on a full disk. Default: none. */
  readonly reserveBytes?: number;
}

/**
 * Opens the metadata store in one SQLite file, and migrates it. Any number of processes of one machine may have it open. On a
 * read-only file system the store can be read alone; so it is on a full one without room for SQLite's files beside the database.
 *
 * @throws NewerSchemaError for a file that a newer release has written to, ReadOnlyError and StorageFullError for one that would have
 * to be migrated, UnavailableError
 */
export async function openSqliteStore(statements: Statements, options: SqliteStoreOptions): Promise<Store> {
  const { file, reserveBytes = 0 } = options;
  const reserve = createReserve(file, reserveBytes);
  try {
    await createDatabaseFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS' || !existsSync(file)) throw error;
    return openToReadAlone(statements, options, readOnlyError(error));
  }
  try {
    return await openToWrite(statements, options, reserve).catch((error: unknown) => {
      if (!(error instanceof StorageFullError)) throw error;
      reserve.release();
      return openToWrite(statements, options, reserve);
    });
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
    return openToReadAlone(statements, options, error);
  }
}

async function openToWrite(
  statements: Statements,
  { file, clock = Date.now, waitMs = defaultWaitMs }: SqliteStoreOptions,
  reserve: Reserve,
): Promise<Store> {
  const writer = await openWriter(file, waitMs);
  try {
    const dialect = writingDialect({ database: writer, waitMs });
    const migrationDb = new Kysely<unknown>({ dialect });
    await migrate((work) => migrationDb.transaction().execute(work), migrations, columnTypes, clock);
    await whenFree(() => createCommitTable(writer), waitMs);
    const writing = createWriting({ statements, db: new Kysely<Database>({ dialect }), writer, file, reserve });
    const store = await createStore({ statements, waitMs, reader: openReader(file), writing });
    fillIfThereIsRoom(reserve);
    return {
      ...store,
      async close() {
        await store.close();
        fillIfThereIsRoom(reserve); // what the log has taken
      },
    };
  } catch (error) {
    writer.close();
    throw error;
  }
}

function fillIfThereIsRoom(reserve: Reserve): void {
  try {
    reserve.fill();
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
  }
}

/** @param refusal what every change is refused with */
async function openToReadAlone(
  statements: Statements,
  { file, waitMs = defaultWaitMs }: SqliteStoreOptions,
  refusal: Error,
): Promise<Store> {
  const wasClosed = !hasLog(file);
  const reader = openReader(file);
  try {
    assertSchema(reader, refusal);
    const refuse = () => Promise.reject(refusal);
    const writing: Writing = { write: refuse, pingWrite: refuse, settle: async () => {}, close() {} };
    const store = await createStore({ statements, waitMs, reader, writing });
    const assertUnchanged = (): void => {
      if (wasClosed && hasLog(file)) {
        throw new UnavailableError(
          'The database was opened to be read alone, and another process writes to it: start this one again',
        );
      }
    };
    return {
      ...store,
      revision() {
        assertUnchanged();
        return store.revision();
      },
      async ping() {
        assertUnchanged();
        await store.ping();
      },
    };
  } catch (error) {
    reader.close();
    throw error;
  }
}

/** @throws NewerSchemaError, and the refusal of changes when the database has to be migrated */
function assertSchema(reader: DatabaseSync, refusal: Error): void {
  const isThere = reader.prepare("select 1 from sqlite_schema where name = 'schema_versions'").get() !== undefined;
  if (!isThere) throw refusal;
  const version = Number(reader.prepare('select max(version) as version from schema_versions').get()?.version);
  if (version > migrations.length) throw new NewerSchemaError(version, migrations.length);
  if (version < migrations.length) throw refusal;
}

interface StoreParts {
  readonly statements: Statements;
  readonly waitMs: number;
  readonly reader: DatabaseSync;
  readonly writing: Writing;
}

async function createStore({ statements, waitMs, reader, writing }: StoreParts): Promise<Store> {
  const readDb = new Kysely<Database>({ dialect: readingDialect({ database: reader, waitMs }) });
  const read = statements.queries(readDb);
  const commits = await whenFree(() => readCommits(reader), waitMs);
  let closing: Promise<void> | undefined;
  // Asked once in a turn of the event loop. What arrives in a turn was sent before it began, so nobody who knows of another
  // process's commit is answered from before it; this store's own commits are forgotten about at once.
  let knownRevision: number | undefined;
  const forgetRevision = (): void => {
    knownRevision = undefined;
  };
  const write: Store['write'] = (work) => writing.write(work).finally(forgetRevision);

  /** The writer goes last: it folds the log into the file. */
  const close = async (): Promise<void> => {
    try {
      await writing.settle();
    } finally {
      reader.close();
      writing.close();
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
    async ping() {
      await whenFree(commits.version, waitMs);
    },
    pingWrite: () => writing.pingWrite().finally(forgetRevision),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * Has SQLite read the whole database and tell what contradicts itself in it: pages, indexes, and foreign keys.
 * https://www.sqlite.org/pragma.html#pragma_integrity_check
 */
function checkFile(database: DatabaseSync): StoreFault[] {
  const faults: StoreFault[] = [];
  for (const row of database.prepare('pragma integrity_check').all()) {
    const detail = String(row.integrity_check);
    if (detail !== 'ok') faults.push({ subject: 'database', detail });
  }
  for (const { table, rowid, parent } of database.prepare('pragma foreign_key_check').all()) {
    faults.push({
      subject: 'database',
      detail: `row ${rowid} of ${table} refers to a row of ${parent} that is not there`,
    });
  }
  return faults;
}
