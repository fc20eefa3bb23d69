import type { ListPage } from '@tenon/protocol';
import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useApi } from './services.ts';
import { useCachedData } from './use-cached.ts';
import type { Data } from './use-data.ts';

/** The state of a list, by the server's parameters: `q`, `sort`, `cursor`, and filters. Defaults are left out. */
export type ListQuery = Readonly<Record<string, string | undefined>>;

/** One page of a list of the server. The page's address has its state. */
export interface PagedList<Row> {
  readonly page: Data<ListPage<Row>>;
  readonly query: ListQuery;
  readonly sort: string | undefined;
  /** Whether the list has no entries, without search and filters. */
  readonly isEmpty: boolean;
  /** Whether the rows are those of another query, because the present one is still loading. */
  readonly isStale: boolean;
  /** Changes the query. Any other change than of the cursor leads to the first page. */
  change(change: ListQuery, how?: { readonly isTyping?: boolean }): void;
}

interface ListOptions {
  /** Precedes the parameters in the address, where a page has several lists. */
  readonly prefix?: string;
  /** The filters that the address may have. */
  readonly filters?: readonly string[];
  /** The order without `sort` in the address. */
  readonly sort?: string;
  /** Parameters that are always sent. */
  readonly fixed?: Readonly<Record<string, string>>;
  readonly limit?: number;
}

const defaultLimit = 50;

/** Fetches one page of a list. */
export function useList<Row>(path: string, options: ListOptions = {}): PagedList<Row> {
  const { prefix = '', filters = [], fixed, limit = defaultLimit } = options;
  const api = useApi();
  const location = useLocation();
  const names = ['q', 'sort', 'cursor', ...filters];
  const query: ListQuery = Object.fromEntries(names.map((name) => [name, location.query[prefix + name] || undefined]));
  const sort = query.sort ?? options.sort;
  const sent = { ...fixed, ...query, sort, limit };
  const page = useCachedData(`${path} ${JSON.stringify(sent)}`, (signal) =>
    api.get<ListPage<Row>>(path, { query: sent, signal }),
  );
  const last = useRef<{ path: string; data: ListPage<Row> }>(undefined);
  if (page.status === 'ready') last.current = { path, data: page.data };
  const stale = page.status === 'loading' && last.current?.path === path ? last.current.data : undefined;
  const isWhole = names.every((name) => name === 'sort' || query[name] === undefined);
  return {
    page: stale === undefined ? page : { ...page, status: 'ready', data: stale },
    query,
    sort,
    isEmpty: isWhole && page.status === 'ready' && page.data.objects.length === 0,
    isStale: stale !== undefined,
    change(change, { isTyping = false } = {}) {
      const next: ListQuery = { ...query, cursor: undefined, ...change };
      const search = new URLSearchParams(window.location.search);
      for (const name of names) {
        const value = name === 'sort' && next.sort === options.sort ? undefined : next[name];
        if (value === undefined || value === '') search.delete(prefix + name);
        else search.set(prefix + name, value);
      }
      location.route(window.location.pathname + (search.size === 0 ? '' : `?${search}`), isTyping);
    },
  };
}
