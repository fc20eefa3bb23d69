import { aborted, ClientError } from './errors.ts';

/** Work that several wait for, and that is done once. */
export interface Flight<T> {
  /** Waits for it. Who goes away leaves the others waiting; with the last one the work ends, unless it was told to {@link goOn}. */
  wait(signal: AbortSignal | undefined): Promise<T>;
  /** From now on it goes on even when nobody waits. */
  goOn(): void;
}

export interface Flights {
  /** The work under way for a key, or new work. It has no state of its own once it has ended. */
  join<T>(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T>;
  has(key: string): boolean;
  /** Ends all work. */
  endAll(reason: ClientError): void;
}

export function createFlights(): Flights {
  const under = new Map<string, { flight: Flight<unknown>; controller: AbortController }>();
  return {
    join<T>(key: string, start: (signal: AbortSignal) => Promise<T>) {
      const present = under.get(key);
      if (present !== undefined) return present.flight as Flight<T>;
      const controller = new AbortController();
      const work = start(controller.signal).finally(() => {
        if (under.get(key)?.controller === controller) under.delete(key);
      });
      work.catch(() => {}); // whoever waits is told; that nobody does is no fault
      const leave = () => {
        // Whoever comes now begins anew: this work won't end well.
        under.delete(key);
        controller.abort(new ClientError('aborted', 'Nobody waits for it any more'));
      };
      const flight = createFlight(work, leave);
      under.set(key, { flight, controller });
      return flight;
    },
    has: (key) => under.has(key),
    endAll(reason) {
      for (const { controller } of under.values()) controller.abort(reason);
      under.clear();
    },
  };
}

function createFlight<T>(work: Promise<T>, leave: () => void): Flight<T> {
  let waiting = 0;
  let goesOn = false;
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  work.then(end, end);
  return {
    wait(signal) {
      waiting++;
      if (signal === undefined) return work;
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          reject(aborted(signal));
          waiting--;
          if (waiting === 0 && !goesOn && !hasEnded) leave();
        };
        if (signal.aborted) return onAbort();
        signal.addEventListener('abort', onAbort, { once: true });
        work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
      });
    },
    goOn() {
      goesOn = true;
    },
  };
}
