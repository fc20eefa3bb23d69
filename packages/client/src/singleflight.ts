import { aborted, ClientError } from './errors.ts';

/** Work that runs once for all callers that wait for it. */
export interface Flight<T> {
  /** Waits for the result. An aborted wait doesn't affect other waits. Unless {@link detach}ed, the work is aborted with the last one. */
  wait(signal: AbortSignal | undefined): Promise<T>;
  /** Keeps the work running without waiting callers. */
  detach(): void;
}

/** Deduplicates concurrent work by key. */
export interface Singleflight {
  /** The work in progress for a key, or new work. Results are not cached. */
  join<T>(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T>;
  has(key: string): boolean;
  abortAll(reason: ClientError): void;
}

export function createSingleflight(): Singleflight {
  const inProgress = new Map<string, { flight: Flight<unknown>; controller: AbortController }>();
  return {
    join<T>(key: string, start: (signal: AbortSignal) => Promise<T>) {
      const present = inProgress.get(key);
      if (present !== undefined) return present.flight as Flight<T>;
      const controller = new AbortController();
      const work = start(controller.signal).finally(() => {
        if (inProgress.get(key)?.controller === controller) inProgress.delete(key);
      });
      work.catch(() => {}); // callers get the error; without callers it is no unhandled rejection
      const abort = () => {
        inProgress.delete(key); // the next caller starts new work
        controller.abort(new ClientError('aborted', 'All calls were aborted'));
      };
      const flight = createFlight(work, abort);
      inProgress.set(key, { flight, controller });
      return flight;
    },
    has: (key) => inProgress.has(key),
    abortAll(reason) {
      for (const { controller } of inProgress.values()) controller.abort(reason);
      inProgress.clear();
    },
  };
}

function createFlight<T>(work: Promise<T>, abort: () => void): Flight<T> {
  let waiting = 0;
  let isDetached = false;
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  work.then(settle, settle);
  return {
    wait(signal) {
      waiting++;
      if (signal === undefined) return work;
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          reject(aborted(signal));
          waiting--;
          if (waiting === 0 && !isDetached && !isSettled) abort();
        };
        if (signal.aborted) return onAbort();
        signal.addEventListener('abort', onAbort, { once: true });
        work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
      });
    },
    detach() {
      isDetached = true;
    },
  };
}
