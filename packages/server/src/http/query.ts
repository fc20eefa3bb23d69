import type { PageQuery } from '@tenon/protocol';
import { faultsOf } from '@tenon/protocol/validate';
import type { TObject, TSchema } from 'typebox';
import type { PageOf } from '../db/paging.ts';
import type { SortedPage } from '../db/store.ts';
import { DomainError } from './domain-errors.ts';
import { ListResponse } from './list-response.ts';

type QueryReader = (raw: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/**
 * Returns a function that validates query parameters. Ignores parameters that the schema doesn't name.
 *
 * The function throws DomainError `invalid_request`.
 */
export function createQueryReader(schema: TObject): QueryReader {
  const properties = Object.entries(schema.properties as Record<string, TSchema & { type?: string }>);
  return (raw) => {
    const query: Record<string, unknown> = {};
    for (const [name, { type }] of properties) {
      const value = raw[name];
      if (value === undefined) continue;
      if (typeof value !== 'string') throw invalidQuery(`"${name}" must not be repeated.`);
      if (value.includes('\0')) throw invalidQuery(`"${name}" must not contain the character U+0000.`);
      query[name] = type === 'integer' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    }
    const [fault] = faultsOf(schema, query);
    if (fault !== undefined) throw invalidQuery(`"${fault.pointer.slice(1)}" ${fault.detail}.`);
    return query;
  };
}

function invalidQuery(detail: string): DomainError {
  return new DomainError('invalid_request', `In the query, ${detail}`);
}

/**
 * Reads the parameters of a page. The cursor of a list with `sort` begins with the order, because it has no meaning in another one.
 *
 * @throws DomainError `invalid_request` for a cursor of another order
 */
export function toPage<S extends string>(query: PageQuery & { readonly sort?: S }): SortedPage<S> {
  const { limit, cursor, sort } = query;
  if (cursor === undefined) return { limit, sort };
  const [, before, order, text] = /^(<?)(?:(-?\w+):)?(.*)$/s.exec(cursor) ?? [];
  if (order !== sort) throw invalidQuery('"cursor" must be a cursor that this list returned with the same "sort".');
  return before === '' ? { limit, sort, after: text } : { limit, sort, before: text };
}

/** @param sort the `sort` of the request */
export function toList<T>(page: PageOf<T>, toWire: (item: T) => unknown, sort?: string): ListResponse {
  const order = sort === undefined ? '' : `${sort}:`;
  return new ListResponse([page.items], toWire, {
    nextCursor: page.next && order + page.next,
    previousCursor: page.previous && `<${order}${page.previous}`,
    total: page.total,
  });
}
