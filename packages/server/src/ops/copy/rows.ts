import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/db.ts';
import type { CopiedTable } from './tables.ts';

export type Row = Readonly<Record<string, unknown>>;

/** How many rows one statement reads or writes. */
const batchSize = 500;

/** The number of a table's rows, and a digest that doesn't depend on the kind of database. */
interface TableDigest {
  readonly rows: number;
  readonly sha256: string;
}

/** The digests of tables, by name. */
export type Digests = ReadonlyMap<string, TableDigest>;

/** Reads all rows of all tables, in the order of their keys. `onBatch` may throw to stop. */
export async function readRows(
  db: Db,
  tables: readonly CopiedTable[],
  onBatch: (table: CopiedTable, batch: readonly Row[]) => void | Promise<void>,
): Promise<Digests> {
  const digests = new Map<string, TableDigest>();
  for (const table of tables) {
    const hash = createHash('sha256');
    let rows = 0;
    for await (const batch of batches(db, table)) {
      for (const row of batch) hash.update(`${JSON.stringify(table.columns.map((column) => row[column]))}\n`);
      rows += batch.length;
      await onBatch(table, batch);
    }
    digests.set(table.name, { rows, sha256: hash.digest('hex') });
  }
  return digests;
}

async function* batches(db: Db, { name, columns, key }: CopiedTable): AsyncGenerator<readonly Row[]> {
  let after = sql``;
  for (;;) {
    const { rows } = await sql<Row>`
      select ${list(columns)} from ${sql.table(name)} ${after} order by ${list(key)} limit ${sql.lit(batchSize)}
    `.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = sql`where (${list(key)}) > (${sql.join(key.map((column) => last[column]))})`;
  }
}

export async function insertRows(db: Db, { name, columns }: CopiedTable, rows: readonly Row[]): Promise<void> {
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  await sql`insert into ${sql.table(name)} (${list(columns)}) values ${sql.join(values)}`.execute(db);
}

export async function hasRows(db: Db, table: string): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
  return rows.length > 0;
}

/** Fails if the table or one of its columns is missing. */
export async function assertTable(db: Db, { name, columns }: CopiedTable): Promise<void> {
  await sql`select ${list(columns)} from ${sql.table(name)} where 1 = 0`.execute(db);
}

const list = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
