import { DatabaseSync } from 'node:sqlite';
import type { ContentAddress } from '@tenon/protocol';
import { Kysely } from 'kysely';
import { migrate, NewerSchemaError } from '../kysely/migrate.ts';
import { migrations } from '../kysely/migrations/all.ts';
import { checkFile } from './check-file.ts';
import { columnTypes } from './column-types.ts';
import { createCommitTable } from './commits.ts';
import { writingDialect } from './dialect.ts';
import { isBusy } from './errors.ts';
import { openToRead } from './files.ts';

/** What is in a copy of a database. */
export interface DatabaseCopy {
  /** The number of its schema. */
  readonly schemaVersion: number;
  /** What versions name, by address. */
  readonly contents: readonly { readonly address: ContentAddress; readonly size: number }[];
}

/** A copy that is no database of ours, or not whole. */
export class DatabaseCopyError extends Error {
  override readonly name = 'DatabaseCopyError';
}

/**
 * Writes a copy of a database as it is at one moment, whoever writes to it meanwhile, and looks through it. What concerns the
 * running server alone is left out: leases, processes, bytes that no version names, and generations.
 *
 * @param file the database, which may be in use
 * @param copy a file that isn't there yet
 * @throws DatabaseCopyError when it is not whole
 */
export function copyDatabase(file: string, copy: string): DatabaseCopy {
  const source = openToRead(file, 10_000);
  try {
    source.prepare('vacuum into ?').run(copy); // one read transaction: https://www.sqlite.org/lang_vacuum.html#vacuuminto
  } finally {
    source.close();
  }
  const database = new DatabaseSync(copy, { enableForeignKeyConstraints: true });
  try {
    database.exec(`
      delete from leases;
      delete from processes;
      delete from blob_deletions;
      delete from blobs where not exists (select 1 from versions where "contentAddress" = address);
      update blobs set state = 'present', generation = '', "leaseUntilMs" = 0, "unusedSinceMs" = null;
    `);
    return describe(database);
  } finally {
    database.close();
  }
}

/**
 * Looks through a copy that comes from elsewhere, without changing it: it has the tables of its schema's version and nothing
 * that acts by itself, and SQLite finds it whole.
 *
 * @throws DatabaseCopyError, NewerSchemaError
 */
export async function inspectCopy(file: string): Promise<DatabaseCopy> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, defensive: true });
    database.exec('pragma trusted_schema = off; pragma cell_size_check = on');
    await demandSchema(database);
    return describe(database);
  } catch (error) {
    if (error instanceof DatabaseCopyError || error instanceof NewerSchemaError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseCopyError(`SQLite cannot read it (${reason})`, { cause: error });
  } finally {
    database?.close();
  }
}

function describe(database: DatabaseSync): DatabaseCopy {
  const [fault] = checkFile(database);
  if (fault !== undefined) throw new DatabaseCopyError(fault.detail);
  const contents = database
    .prepare('select "contentAddress" as address, max(size) as size from versions group by "contentAddress" order by 1')
    .all() as { address: ContentAddress; size: number }[];
  return { schemaVersion: schemaVersionOf(database), contents };
}

function schemaVersionOf(database: DatabaseSync): number {
  return Number(database.prepare('select max(version) as version from schema_versions').get()?.version);
}

/** Names are compared, and not the text of the statements, which SQLite's versions write differently when a table is altered. */
async function demandSchema(database: DatabaseSync): Promise<void> {
  const version = schemaVersionOf(database);
  if (version > migrations.length) throw new NewerSchemaError(version, migrations.length);
  const expected = new DatabaseSync(':memory:');
  try {
    const db = new Kysely<unknown>({ dialect: writingDialect({ database: expected, waitMs: 10_000 }) });
    await migrate(
      (work) => db.transaction().execute(work),
      migrations.slice(0, version),
      columnTypes,
      () => 0,
    );
    if (hasCommitTable(database)) createCommitTable(expected); // no migration makes it, and older releases had none
    if (shapeOf(database) !== shapeOf(expected)) {
      throw new DatabaseCopyError(`its tables are not those of version ${version} of the schema`);
    }
  } finally {
    expected.close();
  }
}

function hasCommitTable(database: DatabaseSync): boolean {
  return database.prepare("select 1 from sqlite_schema where type = 'table' and name = 'commits'").get() !== undefined;
}

/** Everything in a schema by name, with the columns of tables: triggers, views and virtual tables would show. */
function shapeOf(database: DatabaseSync): string {
  const entries = database
    .prepare(
      `select type, name, tbl_name as tableName, sql like 'create virtual%' as isVirtual from sqlite_schema
       where name not like 'sqlite\\_%' escape '\\' order by type, name`,
    )
    .all();
  const columns = database.prepare('select name, type, "notnull", pk from pragma_table_xinfo(?) order by name');
  return JSON.stringify(entries.map((entry) => [entry, entry.type === 'table' ? columns.all(String(entry.name)) : []]));
}

/** Whether another connection, of any process, has a database open. One that can't be read at all is nobody's. */
export function isInUse(file: string): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    // Leaving the mode in which readers and writers share it takes it alone: https://www.sqlite.org/wal.html#persistence_of_wal_mode
    return database.prepare('pragma journal_mode = delete').get()?.journal_mode !== 'delete';
  } catch (error) {
    return isBusy(error);
  } finally {
    database?.close();
  }
}
