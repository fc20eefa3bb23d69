import { useMemo, useState } from 'preact/hooks';
import type { ListQuery, PagedList } from './use-list.ts';

const pageSize = 50;
const noReload = (): void => {};

/** A list that the page has already, with search and pages like those of the server's lists. */
export function useLocalList<Row>(rows: readonly Row[], searchText: (row: Row) => string): PagedList<Row> {
  const [query, setQuery] = useState<ListQuery>({});
  const text = query.q?.toLowerCase();
  const found = useMemo(
    () => (text === undefined ? rows : rows.filter((row) => searchText(row).toLowerCase().includes(text))),
    [rows, text],
  );
  const start = Number(query.cursor ?? 0);
  const end = start + pageSize;
  return {
    page: {
      status: 'ready',
      data: {
        objects: found.slice(start, end),
        total: found.length,
        ...(end < found.length && { nextCursor: String(end) }),
        ...(start > 0 && { previousCursor: String(Math.max(0, start - pageSize)) }),
      },
      reload: noReload,
      update: noReload,
    },
    query,
    sort: undefined,
    isEmpty: rows.length === 0,
    isStale: false,
    change: (change) =>
      setQuery((now) => {
        const next: ListQuery = { ...now, cursor: undefined, ...change };
        return { ...next, q: next.q === '' ? undefined : next.q };
      }),
  };
}
