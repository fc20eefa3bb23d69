import type { ServerStatus } from '@tenon/protocol';
import { useEffect, useState } from 'preact/hooks';
import { isAbort } from '../../api/api-error.ts';
import { useApi } from '../../state/services.ts';

/** How often it is asked anew while somebody looks, in milliseconds. */
const everyMs = 5_000;

export interface StatusView {
  /** What was answered last. */
  readonly status: ServerStatus | undefined;
  /** Why nothing newer is there. */
  readonly error: unknown;
}

/** Asks how the server is, again and again, but not while the page is out of sight. */
export function useStatus(): StatusView {
  const api = useApi();
  const [view, setView] = useState<StatusView>({ status: undefined, error: undefined });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (isAsking || document.visibilityState === 'hidden') return;
      isAsking = true;
      clearTimeout(timer);
      try {
        const status = await api.get<ServerStatus>('/api/v1/status', { signal });
        if (!signal.aborted) setView({ status, error: undefined });
      } catch (error) {
        if (!signal.aborted && !isAbort(error)) setView(({ status }) => ({ status, error }));
      }
      isAsking = false;
      if (!signal.aborted) timer = setTimeout(() => void ask(), everyMs);
    };
    const onVisible = (): void => void ask();
    document.addEventListener('visibilitychange', onVisible);
    void ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [api]);
  return view;
}
