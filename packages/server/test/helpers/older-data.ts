import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, type Transaction } from 'kysely';
import { blobPath } from '../../src/blobs/fs/paths.ts';
import { keyOfName } from '../../src/blobs/object-name.ts';
import { openS3BlobStore, type S3Options } from '../../src/blobs/s3/s3-blob-store.ts';
import { parseBlobKey } from '../../src/domain/housekeeping/blob-key.ts';
import { type Migration, migrate } from '../../src/store/kysely/migrate.ts';
import { migrations } from '../../src/store/kysely/migrations/all.ts';
import { copiedTables } from '../../src/store/kysely/tables.ts';
import { columnTypes as postgresTypes } from '../../src/store/postgres/column-types.ts';
import { poolDialect } from '../../src/store/postgres/dialect.ts';
import { openPool } from '../../src/store/postgres/pool.ts';
import { columnTypes as sqliteTypes } from '../../src/store/sqlite/column-types.ts';
import { writingDialect } from '../../src/store/sqlite/dialect.ts';
import { createDatabaseFile, openWriter } from '../../src/store/sqlite/files.ts';

/** The oldest schema that data of today can be written in: the ones before it kept versions and their bytes otherwise. */
const oldMigrations: readonly Migration[] = migrations.slice(
  0,
  1 + migrations.findIndex((migration) => migration.name === 'blobs'),
);

/** How many versions of the schema there have been since. */
export const versionsSince = migrations.length - oldMigrations.length;

const locked = (db: Kysely<unknown>) => {
  return <T>(work: (tx: Transaction<unknown>) => Promise<T>): Promise<T> => db.transaction().execute(work);
};

/** Writes the data of a folder that no server uses into another one, as an old release kept them. */
export async function writeOldFolder(from: string, to: string): Promise<void> {
  const file = join(to, 'tenon.db');
  await createDatabaseFile(file);
  const database = await openWriter(file, 1000);
  const db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
  await migrate(locked(db), oldMigrations, sqliteTypes, Date.now);
  database.exec(`pragma foreign_keys = off; attach '${join(from, 'tenon.db')}' as today`);
  for (const table of oldTables(database)) {
    const columns = columnsOf(database, table);
    const values = columns.map((column) => (column === 'epoch' ? 'generation' : column));
    database.exec(`insert into ${table} (${columns.join()}) select ${values.join()} from today.${table}`);
  }
  database.close();
  await copyBlobs(join(from, 'blobs'), join(to, 'blobs'));
}

/** Writes the metadata of such a folder into an empty database of PostgreSQL. */
export async function writeOldDatabase(from: string, url: string): Promise<void> {
  const pool = openPool({ url, waitMs: 60_000 }, 1);
  await migrate(locked(new Kysely<unknown>({ dialect: poolDialect(pool) })), oldMigrations, postgresTypes, Date.now);
  const database = new DatabaseSync(join(from, 'tenon.db'), { readOnly: true });
  await pool.query('set session_replication_role = replica'); // rows come in any order
  for (const table of oldTables(database)) {
    const columns = columnsOf(database, table);
    const places = columns.map((_, index) => `$${index + 1}`);
    for (const row of database.prepare(`select ${columns.join()} from ${table}`).all())
      await pool.query(`insert into ${table} (${columns.join()}) values (${places.join()})`, Object.values(row));
  }
  database.close();
  await pool.end();
}

/** Puts the plugins of such a folder into a bucket. */
export async function putPlugins(from: string, to: S3Options): Promise<void> {
  const blobs = await openS3BlobStore(to);
  const entries = await readdir(join(from, 'blobs'), { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    const key = keyOfName(name);
    if (key !== undefined) await blobs.put(key, await readFile(join(parentPath, name)));
  }
  await blobs.close();
}

/** Blobs of old releases have no generation in their names. */
async function copyBlobs(from: string, to: string): Promise<void> {
  for (const { name, parentPath } of await readdir(from, { recursive: true, withFileTypes: true })) {
    const key = keyOfName(name);
    if (key === undefined) continue;
    const path = join(to, blobPath(parseBlobKey(key).address) ?? '');
    await mkdir(dirname(path), { recursive: true });
    await copyFile(join(parentPath, name), path);
  }
}

function oldTables(database: DatabaseSync): readonly string[] {
  const found = database.prepare("select name from main.sqlite_schema where type = 'table'").all();
  const names = new Set(found.map(({ name }) => String(name)));
  return copiedTables.map(({ name }) => name).filter((name) => names.has(name));
}

function columnsOf(database: DatabaseSync, table: string): readonly string[] {
  return database
    .prepare("select name from pragma_table_info(?, 'main')")
    .all(table)
    .map(({ name }) => String(name));
}
