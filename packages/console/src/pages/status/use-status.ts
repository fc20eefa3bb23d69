import type { ServerStatus } from '@tenon/protocol';
import { useEffect, useState } from 'preact/hooks';
import { hasCode, isAbort } from '../../api/api-error.ts';
import { useApi } from '../../state/services.ts';

/** The refresh interval while the page is visible, in milliseconds. */
const everyMs = 5_000;

export interface StatusView {
  /** The last response. */
  readonly status: ServerStatus | undefined;
  /** Why the last request failed. */
  readonly error: unknown;
}

/** Polls the server's status while the page is visible, unless the server refuses it. */
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
        if (hasCode(error, 'forbidden')) controller.abort();
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
