import { useEffect } from 'preact/hooks';
import { useAccount, useServices } from './services.ts';
import { useCachedState } from './use-cached.ts';

/**
 * As `useState`, for what somebody is writing. Whose session ends meanwhile signs in again, in the same place, and finds it there;
 * leaving the page lets it go.
 *
 * @param key what is being written, apart from everything else
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
