import { type ReferenceExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { Page } from './query-types.ts';

/** Limits a query to a page, in the order of a unique column. */
export function paged<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  column: ReferenceExpression<DB, TB> & string,
  page: Page,
): SelectQueryBuilder<DB, TB, O> {
  let rows = query.orderBy(column as never);
  if (page.after !== undefined) rows = rows.where(column, '>', page.after as never);
  return atMost(rows, page.limit);
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
