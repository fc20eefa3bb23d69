import { defaultPageLimit } from '@tenon/protocol';
import type { BoundedPage, Page } from './store.ts';

/** A page of a list. */
export interface PageOf<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; `undefined` on the last page. */
  readonly next: string | undefined;
  /** The cursor of the previous page: the one that ends before this entry; `undefined` on the first page. */
  readonly previous?: string | undefined;
  /** The number of entries on all pages, if they were counted. */
  readonly total?: number | undefined;
}

/**
 * Reads a page of at most `limit` entries. Requests one more entry, to find out whether there is another page.
 *
 * @param count counts the entries on all pages. It is called if this page doesn't have them all
 */
export async function readPage<T, P extends Page>(
  page: P,
  cursorOf: (item: T) => string,
  list: (page: P & BoundedPage) => Promise<T[]>,
  count?: () => Promise<number>,
): Promise<PageOf<T>> {
  const { limit = defaultPageLimit } = page;
  const rows = await list({ ...page, limit: limit + 1 });
  const items = rows.slice(0, limit);
  const isBackward = page.before !== undefined;
  if (isBackward) items.reverse();
  const [first, last] = [items.at(0), items.at(-1)];
  const hasMore = rows.length > limit;
  const hasNext = isBackward || hasMore;
  const hasPrevious = isBackward ? hasMore : page.after !== undefined;
  const isWhole = !hasNext && !hasPrevious;
  return {
    items,
    next: hasNext && last !== undefined ? cursorOf(last) : undefined,
    previous: hasPrevious && first !== undefined ? cursorOf(first) : undefined,
    ...(count !== undefined && { total: isWhole ? items.length : await count() }),
  };
}

/** As {@link readPage}, for entries whose cursor is their id. */
export function readPageById<T extends { readonly id: string }, P extends Page>(
  page: P,
  list: (page: P & BoundedPage) => Promise<T[]>,
): Promise<PageOf<T>> {
  return readPage(page, ({ id }) => id, list);
}

/** Reads a list to its end, `limit` entries at once, with backpressure. */
export async function* readAllPages<T, C>(
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
  const excess = rows.at(maxRelatedRows);
  if (excess === undefined) return { ...page, rows: Map.groupBy(rows, keyOfRow), hasMoreRows: false };
  // The rows of the last key may be cut off. Those of the keys before it are complete.
  const lastKey = keyOfRow(excess);
  const isComplete = (key: string): boolean => (isDescending ? key > lastKey : key < lastKey);
  const completeCount = page.items.findIndex((item) => !isComplete(keyOf(item)));
  const items = page.items.slice(0, Math.max(1, completeCount));
  const last = items.length < page.items.length ? items.at(-1) : undefined;
  const next = last === undefined ? page.next : cursorOf(last);
  const ofItems = completeCount > 0 ? { rows, hasMore: false } : await readLimited((limit) => load(items, limit));
  return { ...page, items, next, rows: Map.groupBy(ofItems.rows, keyOfRow), hasMoreRows: ofItems.hasMore };
}
