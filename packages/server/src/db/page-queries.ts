import { maxCounted } from '@tenon/protocol';
import { type RawBuilder, type ReferenceExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from './db.ts';
import type { NameSort, Page, SortedPage } from './query-types.ts';

/** Limits a query to a page, in the order of a unique column. */
export function paged<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  column: ReferenceExpression<DB, TB> & string,
  page: Page,
  isDescending = false,
): SelectQueryBuilder<DB, TB, O> {
  const isDown = isDescending !== (page.before !== undefined);
  let rows = query.orderBy(column as never, isDown ? 'desc' : 'asc');
  const cursor = page.before ?? page.after;
  if (cursor !== undefined) rows = rows.where(column, isDown ? '<' : '>', cursor as never);
  return atMost(rows, page.limit);
}

/** The columns that the orders of a list sort by. Together, the values of an order's columns are unique. */
export type Orders<S extends string> = Readonly<Record<Exclude<S, `-${string}`>, readonly RawBuilder<string>[]>>;

/** Limits a query to a page in one of its orders. The cursor of an order with several columns is {@link cursorOfValues}. */
export function sorted<DB, TB extends keyof DB, O, S extends string>(
  query: SelectQueryBuilder<DB, TB, O>,
  orders: Orders<S>,
  page: SortedPage<S>,
  byDefault: S,
): SelectQueryBuilder<DB, TB, O> {
  const sort = page.sort ?? byDefault;
  const columns = orders[sort.replace('-', '') as keyof Orders<S>];
  const isDown = sort.startsWith('-') !== (page.before !== undefined);
  let rows = query;
  for (const column of columns) rows = rows.orderBy(column, isDown ? 'desc' : 'asc');
  const cursor = page.before ?? page.after;
  if (cursor !== undefined) {
    const values = columns.length === 1 ? [cursor] : parseCursor(cursor, columns.length);
    rows = rows.where(
      values === undefined
        ? sql<boolean>`1 = 0`
        : sql<boolean>`(${sql.join(columns)}) ${sql.raw(isDown ? '<' : '>')} (${sql.join(values)})`,
    );
  }
  return atMost(rows, page.limit);
}

/** The orders of applications and of extension points. */
export function nameOrders(table: 'apps' | 'extension_points'): Orders<NameSort> {
  const id = sql.ref<string>(`${table}.id`);
  return { createdAt: [id], name: [sql`lower(${sql.ref(`${table}.name`)})`, id] };
}

export function nameCursor({ id, name }: { readonly id: string; readonly name: string }, sort?: NameSort): string {
  return sort === undefined || sort === 'createdAt' ? id : cursorOfValues(lowerAscii(name), id);
}

export function cursorOfValues(...values: readonly string[]): string {
  return JSON.stringify(values);
}

/** Returns `undefined` for a text that {@link cursorOfValues} doesn't return. */
function parseCursor(cursor: string, length: number): readonly string[] | undefined {
  try {
    const values: unknown = JSON.parse(cursor);
    const isValid = (value: unknown) => typeof value === 'string' && !value.includes('\0');
    return Array.isArray(values) && values.length === length && values.every(isValid) ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a column contains a text. ASCII letters match in either case. */
export function contains(column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${lowerAscii(text).replace(/[%_!]/g, '!$&')}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '!'`;
}

/** Whether a column has a value. Ids match as a whole, because they are random. */
export const equals = (column: string, text: string): RawBuilder<boolean> => sql<boolean>`${sql.ref(column)} = ${text}`;

/** Converts the letters A to Z, as `lower()` does in both databases. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Counts a query's rows up to `maxCounted` plus one, so that the time is bounded. */
export async function countMatches<DB, TB extends keyof DB, O>(
  db: Db,
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<number> {
  const rows = query
    .clearSelect()
    .select(sql`1`.as('one'))
    .limit(maxCounted + 1);
  const { count } = await db
    .selectFrom(rows.as('matches'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Passes any number of texts as one parameter, for the right side of `in`. In both databases `json_each` returns the keys of an object. */
export function setOf<T extends string>(texts: readonly T[]) {
  return sql<T>`(select key from json_each(${JSON.stringify(Object.fromEntries(texts.map((text) => [text, 0])))}))`;
}

/** The maximum number of values in one statement. Databases limit the parameters of a statement. */
const chunkSize = 200;

/**
 * Runs a query for each chunk of a list, and concatenates the rows.
 *
 * @param limit the maximum number of rows; `query` gets the number that remains
 */
export async function inChunks<T, R>(
  values: readonly T[],
  query: (chunk: readonly T[], limit: number | undefined) => Promise<R[]>,
  limit?: number,
): Promise<R[]> {
  const rows: R[] = [];
  for (let start = 0; start < values.length; start += chunkSize) {
    const remaining = limit === undefined ? undefined : limit - rows.length;
    if (remaining === 0) break;
    for (const row of await query(values.slice(start, start + chunkSize), remaining)) rows.push(row);
  }
  return rows;
}

export function atMost<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  limit: number | undefined,
): SelectQueryBuilder<DB, TB, O> {
  return limit === undefined ? query : query.limit(limit);
}
