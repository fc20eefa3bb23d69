import { type ReferenceExpression, type SelectQueryBuilder, sql } from 'kysely';
import type { Page } from './query-types.ts';

/** Cuts a page out of a query's rows, in the order of a column in which no two of them are equal. */
export function paged<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  column: ReferenceExpression<DB, TB> & string,
  page: Page,
): SelectQueryBuilder<DB, TB, O> {
  let cut = query.orderBy(column as never);
  if (page.after !== undefined) cut = cut.where(column, '>', page.after as never);
  return atMost(cut, page.limit);
}

/**
 * A set of texts of any size as one parameter, as the right side of `in`. Both databases read the keys of a JSON object by a function
 * of this name.
 */
export function setOf<T extends string>(texts: readonly T[]) {
  return sql<T>`(select key from json_each(${JSON.stringify(Object.fromEntries(texts.map((text) => [text, 0])))}))`;
}

/** How many values one statement lists at the most: databases bound the number of a statement's parameters. */
const maxListed = 200;

/**
 * Asks about a list of any length in several statements, and puts the answers together.
 *
 * @param limit the most answers; `ask` is told how many of them are left
 */
export async function inChunks<T, R>(
  values: readonly T[],
  ask: (chunk: readonly T[], limit: number | undefined) => Promise<R[]>,
  limit?: number,
): Promise<R[]> {
  const responses: R[] = [];
  for (let at = 0; at < values.length; at += maxListed) {
    const left = limit === undefined ? undefined : limit - responses.length;
    if (left === 0) break;
    for (const answer of await ask(values.slice(at, at + maxListed), left)) responses.push(answer);
  }
  return responses;
}

/** Cuts a query's rows off after so many. */
export function atMost<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  limit: number | undefined,
): SelectQueryBuilder<DB, TB, O> {
  return limit === undefined ? query : query.limit(limit);
}
