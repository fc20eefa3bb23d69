import type { ReferenceExpression, SelectQueryBuilder } from 'kysely';
import type { Page } from '../../domain/ports.ts';

/** Cuts a page out of a query's rows, in the order of a column in which no two of them are equal. */
export function paged<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  column: ReferenceExpression<DB, TB> & string,
  page: Page,
): SelectQueryBuilder<DB, TB, O> {
  let cut = query.orderBy(column as never);
  if (page.after !== undefined) cut = cut.where(column, '>', page.after as never);
  return page.limit === undefined ? cut : cut.limit(page.limit);
}

/** How many values one statement lists at the most: databases bound the number of a statement's parameters. */
const maxListed = 200;

/** Asks about a list of any length in several statements, and puts the answers together. */
export async function inChunks<T, R>(values: readonly T[], ask: (chunk: readonly T[]) => Promise<R[]>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < values.length; at += maxListed) {
    for (const answer of await ask(values.slice(at, at + maxListed))) answers.push(answer);
  }
  return answers;
}
