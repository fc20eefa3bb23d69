import { useEffect } from 'preact/hooks';
import { useAccount, useServices } from './services.ts';
import { useKeptState } from './use-kept.ts';

/**
 * As `useState`, for what somebody is writing. Whose session ends meanwhile signs in again, in the same place, and finds it there;
 * leaving the page lets it go.
 *
 * @param key what is being written, apart from everything else
 */
export function useDraft(key: string, initial: string): [string, (value: string) => void] {
  const { memory, session } = useServices();
  const draft = useKeptState(`draft ${key}`, initial);
  const slot = `${useAccount().id} draft ${key}`;
  useEffect(
    () => () => {
      const view = session.view.get();
      if (view.status === 'ready' && view.account !== null) memory.set(slot, undefined);
    },
    [slot],
  );
  return draft;
}
