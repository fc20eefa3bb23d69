import { defaultPageLimit } from '@tenon/protocol';
import type { BoundedPage, Page } from './store.ts';

/** A page of a list. */
export interface PageOf<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; `undefined` on the last page. */
  readonly next: string | undefined;
}

/** Reads a page of at most `limit` entries. Requests one more entry, to find out whether there is a next page. */
export async function readPage<T>(
  { after, limit = defaultPageLimit }: Page,
  cursorOf: (item: T) => string,
  list: (page: BoundedPage) => Promise<T[]>,
): Promise<PageOf<T>> {
  const items = await list({ after, limit: limit + 1 });
  return items.length <= limit ? { items, next: undefined } : endPageAt(items.slice(0, limit), cursorOf);
}

/** As {@link readPage}, for entries whose cursor is their id. */
export function readPageById<T extends { readonly id: string }>(
  page: Page,
  list: (page: BoundedPage) => Promise<T[]>,
): Promise<PageOf<T>> {
  return readPage(page, ({ id }) => id, list);
}

/** Reads a list to its end, `limit` entries at once, with backpressure. */
export async function* readAllPages<T, C extends string>(
  limit: number,
  cursorOf: (item: T) => C,
  list: (page: { readonly after: C | undefined; readonly limit: number }) => Promise<readonly T[]>,
  from?: C,
): AsyncGenerator<readonly T[]> {
  for (let after = from; ; ) {
    const items = await list({ after, limit });
    const last = items.at(-1);
    if (last !== undefined) yield items;
    if (last === undefined || items.length < limit) return;
    after = cursorOf(last);
  }
}

function endPageAt<T>(items: readonly T[], cursorOf: (item: T) => string): PageOf<T> {
  const last = items.at(-1);
  return { items, next: last === undefined ? undefined : cursorOf(last) };
}

/**
 * The maximum number of rows that belong to the entries of one page, such as the bindings of its plugins. Larger queries would delay
 * other queries.
 */
export const maxRelatedRows = 5000;

interface LimitedRows<R> {
  readonly rows: readonly R[];
  /** Whether there are more rows than these. */
  readonly hasMore: boolean;
}

/** Reads at most `max` rows. Requests one more, to find out whether there are more. */
export async function readLimited<R>(
  load: (limit: number) => Promise<readonly R[]>,
  max: number = maxRelatedRows,
): Promise<LimitedRows<R>> {
  const rows = await load(max + 1);
  return { rows: rows.slice(0, max), hasMore: rows.length > max };
}

/** How to load the rows that belong to a page's entries. An entry and its rows have the same key. */
export interface RelatedRows<T, R> {
  readonly cursorOf: (item: T) => string;
  readonly keyOf: (item: T) => string;
  readonly keyOfRow: (row: R) => string;
  /** Loads at most `limit` rows of the items, ordered by key. */
  readonly load: (items: readonly T[], limit: number) => Promise<readonly R[]>;
  /** Whether the items and the rows are in descending order of their keys. */
  readonly isDescending?: true;
}

interface PageWithRelatedRows<T, R> extends PageOf<T> {
  /** The rows of the page's entries, by key. */
  readonly rows: ReadonlyMap<string, readonly R[]>;
  /** Whether the page's only entry has more rows than these. */
  readonly hasMoreRows: boolean;
}

/**
 * Reads the rows that belong to a page's entries. With more than {@link maxRelatedRows} rows, it ends the page early. An entry that
 * alone has more rows makes a page of its own, with its first rows.
 */
export async function readRelatedRows<T, R>(
  page: PageOf<T>,
  related: RelatedRows<T, R>,
): Promise<PageWithRelatedRows<T, R>> {
  const { cursorOf, keyOf, keyOfRow, load, isDescending } = related;
  if (page.items.length === 0) return { ...page, rows: new Map(), hasMoreRows: false };
  const rows = await load(page.items, maxRelatedRows + 1);
  const last = rows.at(maxRelatedRows);
  if (last === undefined) return { ...page, rows: Map.groupBy(rows, keyOfRow), hasMoreRows: false };
  // The rows of the last key may be cut off. Those of the keys before it are complete.
  const lastKey = keyOfRow(last);
  const isComplete = (key: string): boolean => (isDescending ? key > lastKey : key < lastKey);
  const completeCount = page.items.findIndex((item) => !isComplete(keyOf(item)));
  const items = page.items.slice(0, Math.max(1, completeCount));
  const ofItems = completeCount > 0 ? { rows, hasMore: false } : await readLimited((limit) => load(items, limit));
  const { next } = items.length < page.items.length ? endPageAt(items, cursorOf) : page;
  return { items, next, rows: Map.groupBy(ofItems.rows, keyOfRow), hasMoreRows: ofItems.hasMore };
}
