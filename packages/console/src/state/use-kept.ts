import { useCallback, useEffect, useState } from 'preact/hooks';
import { useAccount, useServices } from './services.ts';
import { type Data, useData } from './use-data.ts';

/**
 * As `useData`, but shows what was fetched last under the key while it is fetched again, so that going back and forth between
 * pages does not blink. What one account has seen is not shown to another.
 *
 * @param key the path that is fetched, or anything else that tells one thing from another
 */
export function useKeptData<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Data<T> {
  const { memory } = useServices();
  const slot = `${useAccount().id} ${key}`;
  const data = useData(load, [slot]);
  const fresh = data.status === 'ready' ? { value: data.data } : undefined;
  useEffect(() => {
    if (fresh !== undefined) memory.set(slot, fresh.value);
  }, [slot, fresh?.value]);

  const [, redraw] = useState(0);
  const kept = memory.get(slot);
  const update = useCallback(
    (change: (data: T) => T) => {
      if (kept !== undefined) memory.set(slot, change(kept as T));
      data.update(change);
      redraw((count) => count + 1);
    },
    [slot, kept, data.update],
  );
  if (data.status !== 'loading' || kept === undefined) return { ...data, update };
  return { status: 'ready', data: kept as T, reload: data.reload, update };
}

/** As `useState`, for what should still be there when one comes back to the page. */
export function useKeptState(key: string, initial: string): [string, (value: string) => void] {
  const { memory } = useServices();
  const slot = `${useAccount().id} ${key}`;
  const [value, setValue] = useState(() => {
    const kept = memory.get(slot);
    return typeof kept === 'string' ? kept : initial;
  });
  return [
    value,
    (next) => {
      memory.set(slot, next);
      setValue(next);
    },
  ];
}
