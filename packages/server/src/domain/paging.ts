import type { Page } from './ports.ts';

/** A page of a list: `next` is what to send as the cursor for the page after it. */
export interface PageOf<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** Asks for one entry more than wanted, so that it is known whether there is a next page. */
export async function paged<T>(
  page: Page,
  cursorOf: (item: T) => string,
  list: (page: Page) => Promise<T[]>,
): Promise<PageOf<T>> {
  const { after, limit } = page;
  if (limit === undefined) return { items: await list({ after }), next: undefined };
  const items = await list({ after, limit: limit + 1 });
  if (items.length <= limit) return { items, next: undefined };
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown, next: last === undefined ? undefined : cursorOf(last) };
}
