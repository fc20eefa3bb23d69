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
import { createCommitReader, createCommitTable } from './commits.ts';
import { columnTypes, readingDialect, writingDialect } from './dialect.ts';
import { readOnlyError, retryWhileBusy, translateError } from './errors.ts';
import { createDatabaseFile, hasLog, openReader, openWriter } from './files.ts';
import { createReserve, type Reserve } from './reserve.ts';
import { createSnapshots } from './snapshots.ts';
import { createWriter, type Writer } from './writer.ts';

const defaultWaitMs = 10_000;

interface SqliteStoreOptions {
  /** Created with its parent folders, accessible only to its owner, if it doesn't exist. */
  readonly file: string;
  /** For the times of migrations. Default: `Date.now`. */
  readonly clock?: Clock;
  /** How long to wait for other transactions before an `UnavailableError`, in milliseconds. Default: 10,000. */
  readonly waitMs?: number;
  /** The disk space to reserve for deletions on a full disk. Default: 0. */
  readonly reserveBytes?: number;
}

/**
 * Opens the metadata store in a SQLite file, and migrates it. Any number of processes of one machine may have it open. The store is
 * read-only if the file system is, or if the disk has no space for SQLite's other files.
 *
 * @throws NewerSchemaError for a file that a newer release has migrated; ReadOnlyError or StorageFullError for a read-only file that needs
 * a migration; UnavailableError
 */
export async function openSqliteStore(statements: Statements, options: SqliteStoreOptions): Promise<Store> {
  const { file, reserveBytes = 0 } = options;
  const reserve = createReserve(file, reserveBytes);
  try {
    await createDatabaseFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS' || !existsSync(file)) throw error;
    return openReadOnly(statements, options, readOnlyError(error));
  }
  try {
    return await openWritable(statements, options, reserve).catch((error: unknown) => {
      if (!(error instanceof StorageFullError)) throw error;
      reserve.release();
      return openWritable(statements, options, reserve);
    });
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
    return openReadOnly(statements, options, error);
  }
}

async function openWritable(
  statements: Statements,
  { file, clock = Date.now, waitMs = defaultWaitMs }: SqliteStoreOptions,
  reserve: Reserve,
): Promise<Store> {
  const writer = await openWriter(file, waitMs);
  try {
    const dialect = writingDialect({ database: writer, waitMs });
    const migrationDb = new Kysely<unknown>({ dialect });
    await migrate((work) => migrationDb.transaction().execute(work), migrations, columnTypes, clock);
    await retryWhileBusy(() => createCommitTable(writer), waitMs);
    const db = new Kysely<Database>({ dialect });
    const transactions = createWriter({ statements, db, connection: writer, file, reserve });
    const store = await createStore(statements, file, openReader(file), transactions, waitMs);
    fillIfPossible(reserve);
    return {
      ...store,
      async close() {
        await store.close();
        fillIfPossible(reserve); // deleting the log has freed space
      },
    };
  } catch (error) {
    writer.close();
    throw error;
  }
}

function fillIfPossible(reserve: Reserve): void {
  try {
    reserve.fill();
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
  }
}

/** @param refusal the error of every write */
async function openReadOnly(
  statements: Statements,
  { file, waitMs = defaultWaitMs }: SqliteStoreOptions,
  refusal: Error,
): Promise<Store> {
  const wasClosed = !hasLog(file);
  const reader = openReader(file);
  try {
    assertSchema(reader, refusal);
    const refuse = () => Promise.reject(refusal);
    const writer = { write: refuse, ping: refuse, settle: async () => {}, close() {} };
    const store = await createStore(statements, file, reader, writer, waitMs);
    const assertUnchanged = (): void => {
      if (wasClosed && hasLog(file)) {
        throw new UnavailableError(
          'Another process writes to the database, which was opened as read-only: restart this one',
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

/** @throws NewerSchemaError; the refusal if the database needs a migration */
function assertSchema(reader: DatabaseSync, refusal: Error): void {
  const hasSchema = reader.prepare("select 1 from sqlite_schema where name = 'schema_versions'").get() !== undefined;
  if (!hasSchema) throw refusal;
  const version = Number(reader.prepare('select max(version) as version from schema_versions').get()?.version);
  if (version > migrations.length) throw new NewerSchemaError(version, migrations.length);
  if (version < migrations.length) throw refusal;
}

async function createStore(
  statements: Statements,
  file: string,
  reader: DatabaseSync,
  writer: Writer,
  waitMs: number,
): Promise<Store> {
  const readDb = new Kysely<Database>({ dialect: readingDialect({ database: reader, waitMs }) });
  const commits = await retryWhileBusy(() => createCommitReader(reader), waitMs);
  let closing: Promise<void> | undefined;
  // Cached for one turn of the event loop, except over own commits. A request that arrives in a turn was sent before the turn began, so
  // its sender can't know of a later commit of another process.
  let knownRevision: number | undefined;
  const forgetRevision = (): void => {
    knownRevision = undefined;
  };
  const write: Store['write'] = (work) => writer.write(work).finally(forgetRevision);

  const close = async (): Promise<void> => {
    try {
      await writer.settle();
    } finally {
      reader.close();
      writer.close(); // last, so that SQLite moves the log into the database
    }
  };

  return {
    read: statements.queries(readDb),
    readSnapshot: createSnapshots(statements, file, waitMs),
    write,
    writeLocking: write, // a transaction locks the whole file
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
      return [...(await retryWhileBusy(() => checkFile(reader), waitMs)), ...(await checkRows(readDb))];
    },
    async ping() {
      await retryWhileBusy(commits.version, waitMs);
    },
    pingWrite: () => writer.ping().finally(forgetRevision),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Checks all pages, indexes, and foreign keys: https://www.sqlite.org/pragma.html#pragma_integrity_check */
function checkFile(database: DatabaseSync): StoreFault[] {
  const faults: StoreFault[] = [];
  for (const row of database.prepare('pragma integrity_check').all()) {
    const detail = String(row.integrity_check);
    if (detail !== 'ok') faults.push({ subject: 'database', detail });
  }
  for (const { table, rowid, parent } of database.prepare('pragma foreign_key_check').all()) {
    faults.push({
      subject: 'database',
      detail: `row ${rowid} of ${table} references a missing row of ${parent}`,
    });
  }
  return faults;
}
