import { useCallback, useEffect, useState } from 'preact/hooks';
import { useAccount, useServices } from './services.ts';
import { type Data, useData, useReloadOnReturn } from './use-data.ts';

/**
 * Like `useData`, but shows the last data of the key while refetching, so that returning to a page doesn't flicker, and
 * refetches when the user returns to the tab, and when something changes in the application that the page is about. Each account has its own entries.
 *
 * @param key the fetched path, or another unique key
 */
export function useCachedData<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Data<T> {
  const { pageCache, liveUpdates } = useServices();
  const entryKey = `${useAccount().id} ${key}`;
  const data = useData(load, [entryKey]);
  useReloadOnReturn(data.reload);
  useEffect(() => liveUpdates.follow(data.reload), [data.reload]);
  const fresh = data.status === 'ready' ? { value: data.data } : undefined;
  useEffect(() => {
    if (fresh !== undefined) pageCache.set(entryKey, fresh.value);
  }, [entryKey, fresh?.value]);

  const [, redraw] = useState(0);
  const cached = pageCache.get(entryKey);
  const update = useCallback(
    (change: (data: T) => T) => {
      if (cached !== undefined) pageCache.set(entryKey, change(cached as T));
      data.update(change);
      redraw((count) => count + 1);
    },
    [entryKey, cached, data.update],
  );
  if (data.status !== 'loading' || cached === undefined) return { ...data, update };
  return { status: 'ready', data: cached as T, reload: data.reload, update };
}

/** Like `useState`, with a value that survives leaving the page. */
export function useCachedState(key: string, initial: string): [string, (value: string) => void] {
  const { pageCache } = useServices();
  const entryKey = `${useAccount().id} ${key}`;
  const [value, setValue] = useState(() => {
    const cached = pageCache.get(entryKey);
    return typeof cached === 'string' ? cached : initial;
  });
  return [
    value,
    (next) => {
      pageCache.set(entryKey, next);
      setValue(next);
    },
  ];
}
