import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { hasCode, isAbort } from '../api/api-error.ts';

/** Fetched data. A refetch keeps the old data, also when it fails with a temporary error. */
export type Data<T> = (
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly error: unknown }
  | { readonly status: 'ready'; readonly data: T }
) & {
  /** Refetches. */
  reload(): void;
  /** Replaces the data, for example with the response of a change. */
  update(change: (data: T) => T): void;
};

const temporary = ['unreachable', 'unavailable', 'internal', 'rate_limited'] as const;

/**
 * Fetches data, and refetches when an input changes. Leaving the page aborts the request.
 *
 * @param load fetches with the signal
 */
export function useData<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs): Data<T> {
  type State = { status: 'loading' } | { status: 'failed'; error: unknown } | { status: 'ready'; data: T };
  const [state, setState] = useState<State>({ status: 'loading' });
  const [round, setRound] = useState(0);
  const shownInputs = useRef<Inputs | undefined>(undefined);

  useEffect(() => {
    const controller = new AbortController();
    const isOther = shownInputs.current === undefined || shownInputs.current.some((input, at) => input !== inputs[at]);
    shownInputs.current = inputs;
    if (isOther) setState({ status: 'loading' });
    load(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ status: 'ready', data });
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAbort(error)) return;
        const mayKeep = hasCode(error, ...temporary);
        setState((now) => (mayKeep && now.status === 'ready' ? now : { status: 'failed', error }));
      },
    );
    return () => controller.abort();
  }, [...inputs, round]);

  const reload = useCallback(() => setRound((count) => count + 1), []);
  const update = useCallback(
    (change: (data: T) => T) =>
      setState((now) => (now.status === 'ready' ? { status: 'ready', data: change(now.data) } : now)),
    [],
  );
  return { ...state, reload, update };
}

/** Refetches when the user returns to the tab, because the data may have changed meanwhile. */
export function useReloadOnReturn(reload: () => void): void {
  useEffect(() => {
    const onChange = (): void => {
      if (document.visibilityState === 'visible') reload();
    };
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, [reload]);
}
