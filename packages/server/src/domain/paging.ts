import { defaultPageLimit } from '@tenon/protocol';
import type { BoundedPage, Page } from './ports.ts';

/** A page of a list: `next` is what to send as the cursor for the page after it. */
export interface PageOf<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** Reads a page of {@link defaultPageLimit} entries, or of as many as the caller asks for. Asks for one more, to know whether there is a next page. */
export async function readPage<T>(
  { after, limit = defaultPageLimit }: Page,
  cursorOf: (item: T) => string,
  list: (page: BoundedPage) => Promise<T[]>,
): Promise<PageOf<T>> {
  const items = await list({ after, limit: limit + 1 });
  return items.length <= limit ? { items, next: undefined } : endPageAt(items.slice(0, limit), cursorOf);
}

function endPageAt<T>(items: readonly T[], cursorOf: (item: T) => string): PageOf<T> {
  const last = items.at(-1);
  return { items, next: last === undefined ? undefined : cursorOf(last) };
}

/** The most rows that belong to the entries of one page, such as the bindings of its plugins; of one entry, no more are listed. */
export const maxRelatedRows = 5000;

/** Rows that belong to one entry, and whether there are more of them. */
export interface LimitedRows<R> {
  readonly rows: readonly R[];
  readonly hasMore: boolean;
}

/**
 * Reads some rows that belong to one entry.
 *
 * @param max how many; default: {@link maxRelatedRows}, since a statement that reads more holds others up
 */
export async function readLimited<R>(
  load: (limit: number) => Promise<readonly R[]>,
  max: number = maxRelatedRows,
): Promise<LimitedRows<R>> {
  const rows = await load(max + 1);
  return { rows: rows.slice(0, max), hasMore: rows.length > max };
}

/** Rows that belong to a page's entries, and how the two are matched. */
export interface RelatedRows<T, R> {
  readonly cursorOf: (item: T) => string;
  readonly keyOf: (item: T) => string;
  readonly keyOfRow: (row: R) => string;
  /** At most `limit` rows of the items, in the order of the keys. */
  readonly load: (items: readonly T[], limit: number) => Promise<readonly R[]>;
  /** Whether the list, and what `load` returns, descends by key. */
  readonly isDescending?: true;
}

/** A page with the rows that belong to its entries, by the entries' keys. */
export interface PageWithRelatedRows<T, R> extends PageOf<T> {
  readonly rows: ReadonlyMap<string, readonly R[]>;
  /** Whether rows of the page's only entry are left out. */
  readonly hasMoreRows: boolean;
}

/**
 * Reads what belongs to a page's entries, and ends the page early where that is more than {@link maxRelatedRows} rows. An
 * entry that has more by itself comes alone, with so many of them.
 */
export async function readRelatedRows<T, R>(
  page: PageOf<T>,
  of: RelatedRows<T, R>,
): Promise<PageWithRelatedRows<T, R>> {
  const { cursorOf, keyOf, keyOfRow, load, isDescending } = of;
  if (page.items.length === 0) return { ...page, rows: new Map(), hasMoreRows: false };
  const rows = await load(page.items, maxRelatedRows + 1);
  const last = rows.at(maxRelatedRows);
  if (last === undefined) return { ...page, rows: Map.groupBy(rows, keyOfRow), hasMoreRows: false };
  // The rows of the last key may be cut off; those of the keys before it are complete.
  const lastKey = keyOfRow(last);
  const isComplete = (key: string): boolean => (isDescending ? key > lastKey : key < lastKey);
  const complete = page.items.findIndex((item) => !isComplete(keyOf(item)));
  const items = page.items.slice(0, Math.max(1, complete));
  const { rows: theirs, hasMore } =
    complete > 0 ? { rows, hasMore: false } : await readLimited((limit) => load(items, limit));
  const { next } = items.length < page.items.length ? endPageAt(items, cursorOf) : page;
  return { items, next, rows: Map.groupBy(theirs, keyOfRow), hasMoreRows: hasMore };
}
