import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../store/kysely/db.ts';
import { type CopiedTable, copiedTables } from '../store/kysely/tables.ts';
import { MigrateStoreError } from './errors.ts';
import { createTableDigest, paired, type Row, rowsAtOnce, rowsOf, rowText, type TableDigest } from './rows.ts';

/** The digests of tables, by name. */
export type Digests = ReadonlyMap<string, TableDigest>;

/**
 * Makes the target's tables equal to the source's: everything where it is empty, the difference where it is not. What is gone goes
 * first, from the rows that refer to others on; what is new or has changed comes after, from those that are referred to on. It may be
 * interrupted anywhere, and begun again.
 *
 * @param onRow called for each row that was looked at, and throws when the work is to end
 * @returns what the source's tables hold
 */
export async function copyTables(source: Db, target: Db, onRow: () => void): Promise<Digests> {
  for (const table of copiedTables.toReversed()) await deleteGone(source, target, table, onRow);
  const digests = new Map<string, TableDigest>();
  for (const table of copiedTables) digests.set(table.name, await copyTable(source, target, table, onRow));
  return digests;
}

async function deleteGone(source: Db, target: Db, table: CopiedTable, onRow: () => void): Promise<void> {
  if ((await rowsOf(target, table, false).next()).done) return;
  const changes = batchChanges(target);
  for await (const { left, right } of bothSides(source, target, table)) {
    onRow();
    if (left === undefined && right !== undefined) {
      await changes.add(sql`delete from ${sql.table(table.name)} where ${isRow(table, right)}`);
    }
  }
  await changes.flush();
}

async function copyTable(source: Db, target: Db, table: CopiedTable, onRow: () => void): Promise<TableDigest> {
  const digest = createTableDigest();
  const changes = batchChanges(target);
  let fresh: Row[] = [];
  const insertFresh = async (): Promise<void> => {
    if (fresh.length > 0) await insertRows(target, table, fresh);
    fresh = [];
  };
  for await (const { left, right } of bothSides(source, target, table)) {
    onRow();
    if (left === undefined) continue;
    digest.add(left);
    if (right === undefined) {
      fresh.push(left);
      if (fresh.length === rowsAtOnce) await insertFresh();
    } else if (rowText(left) !== rowText(right)) {
      await changes.add(update(table, left));
    }
  }
  await insertFresh();
  await changes.flush();
  return digest.end();
}

function bothSides(source: Db, target: Db, table: CopiedTable) {
  return paired(rowsOf(source, table, true), rowsOf(target, table, false), table.key);
}

async function insertRows(target: Db, { name }: CopiedTable, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  try {
    await sql`insert into ${sql.table(name)} (${names}) values ${sql.join(values)}`.execute(target);
  } catch (error) {
    throw explain(error, name, rows);
  }
}

/** SQLite keeps a text with U+0000, and PostgreSQL does not: https://www.postgresql.org/docs/current/datatype-character.html */
function explain(error: unknown, table: string, rows: readonly Row[]): unknown {
  for (const row of rows) {
    const found = Object.entries(row).find(([, value]) => typeof value === 'string' && value.includes('\0'));
    if (found === undefined) continue;
    const which = `The ${found[0]} of ${row.id ?? 'a row'} in the table ${table}`;
    const message = `${which} has the character U+0000, which PostgreSQL cannot keep: change it first.`;
    return new MigrateStoreError('not_storable', message, { cause: error });
  }
  return error;
}

function update(table: CopiedTable, row: Row): RawBuilder<unknown> {
  const others = Object.keys(row).filter((column) => !table.key.includes(column));
  const values = sql.join(others.map((column) => sql`${sql.ref(column)} = ${row[column]}`));
  return sql`update ${sql.table(table.name)} set ${values} where ${isRow(table, row)}`;
}

function isRow({ key }: CopiedTable, row: Row): RawBuilder<unknown> {
  return sql.join(
    key.map((column) => sql`${sql.ref(column)} = ${row[column]}`),
    sql` and `,
  );
}

/** Makes changes many at a time, in one transaction. */
function batchChanges(db: Db): { add(change: RawBuilder<unknown>): Promise<void>; flush(): Promise<void> } {
  let waiting: RawBuilder<unknown>[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    await db.transaction().execute(async (tx) => {
      for (const change of batch) await change.execute(tx);
    });
  };
  return {
    flush,
    async add(change) {
      waiting.push(change);
      if (waiting.length === rowsAtOnce) await flush();
    },
  };
}
