import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../store/kysely/db.ts';
import type { CopiedTable } from '../store/kysely/tables.ts';

type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** How many rows are read, or written, in one go. */
export const rowsAtOnce = 500;

/** A table's rows in the order of their keys; those alone that are copied, if it is the source's. */
export async function* rowsOf(db: Db, { name, key, source }: CopiedTable, isSource: boolean): AsyncGenerator<Row> {
  const from = isSource && source !== undefined ? sql.raw(`(${source}) as copied`) : sql.table(name);
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let after: Row | undefined;
  for (;;) {
    const last = after;
    const where = last && sql`where (${columns}) > (${sql.join(key.map((column) => last[column]))})`;
    const { rows } = await sql<Row>`
      select * from ${from} ${where ?? sql``} order by ${columns} limit ${sql.lit(rowsAtOnce)}
    `.execute(db);
    yield* rows;
    after = rows.at(-1);
    if (after === undefined || rows.length < rowsAtOnce) return;
  }
}

/** What a table holds, in a form that two databases have in common. */
export interface TableDigest {
  readonly rows: number;
  readonly sha256: string;
}

/** Collects a table's digest as its rows come in the order of their keys. */
export function createTableDigest(): { add(row: Row): void; end(): TableDigest } {
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add(row) {
      rows++;
      hash.update(`${rowText(row)}\n`);
    },
    end: () => ({ rows, sha256: hash.digest('hex') }),
  };
}

export async function digestOf(db: Db, table: CopiedTable, onRow: () => void): Promise<TableDigest> {
  const digest = createTableDigest();
  for await (const row of rowsOf(db, table, false)) {
    digest.add(row);
    onRow();
  }
  return digest.end();
}

/** Columns by name: which were added later than others is another matter in another database. */
export function rowText(row: Row): string {
  return JSON.stringify(
    Object.keys(row)
      .sort()
      .map((column) => [column, row[column]]),
  );
}

/** As both databases compare keys: numbers by value, texts byte by byte in UTF-8. */
export function compareKeys(a: Row, b: Row, key: readonly string[]): number {
  for (const column of key) {
    const [one, other] = [a[column], b[column]];
    if (one === other) continue;
    if (typeof one === 'number' && typeof other === 'number') return one - other;
    return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
  }
  return 0;
}

/** Rows of both sides by key: together where both have one. Both come in the order of their keys. */
export async function* paired(
  left: AsyncGenerator<Row>,
  right: AsyncGenerator<Row>,
  key: readonly string[],
): AsyncGenerator<{ readonly left?: Row; readonly right?: Row }> {
  const next = async (rows: AsyncGenerator<Row>) => (await rows.next()).value as Row | undefined;
  let [a, b] = [await next(left), await next(right)];
  while (a !== undefined || b !== undefined) {
    const order = a === undefined ? 1 : b === undefined ? -1 : compareKeys(a, b, key);
    yield { ...(order <= 0 && a && { left: a }), ...(order >= 0 && b && { right: b }) };
    if (order <= 0) a = await next(left);
    if (order >= 0) b = await next(right);
  }
}
