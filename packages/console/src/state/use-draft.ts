import { useEffect } from 'preact/hooks';
import { useAccount, useServices } from './services.ts';
import { useCachedState } from './use-cached.ts';

/**
 * Like `useState`, for a text being written. The draft survives an ended session, and is discarded on leaving the page.
 *
 * @param key identifies the draft
 */
export function useDraft(key: string, initial: string): [string, (value: string) => void] {
  const { pageCache, session } = useServices();
  const draft = useCachedState(`draft ${key}`, initial);
  const entryKey = `${useAccount().id} draft ${key}`;
  useEffect(
    () => () => {
      const view = session.view.get();
      if (view.status === 'ready' && view.account !== null) pageCache.set(entryKey, undefined);
    },
    [entryKey],
  );
  return draft;
}
