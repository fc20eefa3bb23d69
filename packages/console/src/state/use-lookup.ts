import type { ListPage } from '@tenon/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useApi } from './services.ts';

/** A request waits until the user pauses typing. */
const pauseMs = 250;

/**
 * Looks an entry of a list up while the user types. Returns `undefined` until the server has found one.
 *
 * @param query the parameters that select the entry; `undefined` for no request
 */
export function useLookup<T>(path: string, query: Readonly<Record<string, string>> | undefined): T | undefined {
  const api = useApi();
  const [found, setFound] = useState<{ readonly key: string; readonly entry: T | undefined }>();
  const key = query === undefined ? undefined : `${path} ${JSON.stringify(query)}`;
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => {
      api.get<ListPage<T>>(path, { query: { ...query, limit: 1 }, signal }).then(
        ({ objects }) => setFound({ key, entry: objects[0] }),
        () => {}, // the entry only serves a hint
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  return found?.key === key ? found?.entry : undefined;
}
