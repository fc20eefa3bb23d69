import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import type { Db } from '../../db/db.ts';
import type { Database } from '../../db/records.ts';
import { readingDialect, writingDialect } from '../../db/sqlite/dialect.ts';
import { retryWhileBusy } from '../../db/sqlite/errors.ts';
import { openReader, openWriter } from '../../db/sqlite/files.ts';
import type { StoreSettings } from '../../open-stores.ts';

/** The time-out of a statement, in milliseconds. */
const waitMs = 5 * 60_000;

type Settings = Pick<StoreSettings, 'dataDir' | 'databaseUrl'>;

/** Runs the work on a snapshot of the metadata. Servers may write at the same time. */
export function readSnapshot<T>(settings: Settings, work: (db: Db) => Promise<T>): Promise<T> {
  const { dataDir, databaseUrl } = settings;
  if (databaseUrl === undefined) return readFileSnapshot(join(dataDir, 'tenon.db'), work);
  return withPostgres(databaseUrl, (db) =>
    db.transaction().execute(async (tx) => {
      await sql`set transaction isolation level repeatable read, read only`.execute(tx);
      return work(tx);
    }),
  );
}

async function readFileSnapshot<T>(file: string, work: (db: Db) => Promise<T>): Promise<T> {
  const database = await retryWhileBusy(() => openReader(file), waitMs);
  try {
    database.exec('pragma trusted_schema = off; begin');
    await retryWhileBusy(() => database.prepare('select 1 from sqlite_schema').get(), waitMs); // the snapshot begins here
    return await work(new Kysely<Database>({ dialect: readingDialect({ database, waitMs }) }));
  } finally {
    database.close();
  }
}

/** Runs the work on a connection for writes, without the rules of the store. */
export async function writeDatabase<T>(settings: Settings, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const { dataDir, databaseUrl } = settings;
  if (databaseUrl !== undefined) return withPostgres(databaseUrl, work);
  const database = await openWriter(join(dataDir, 'tenon.db'), waitMs);
  try {
    return await work(new Kysely<Database>({ dialect: writingDialect({ database, waitMs }) }));
  } finally {
    database.close();
  }
}

async function withPostgres<T>(url: string, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const [{ openPool }, { poolDialect }] = await Promise.all([
    import('../../db/postgres/pool.ts'),
    import('../../db/postgres/dialect.ts'),
  ]);
  const pool = openPool({ url, waitMs }, 2);
  try {
    return await work(new Kysely<Database>({ dialect: poolDialect(pool) }));
  } finally {
    await pool.end();
  }
}
