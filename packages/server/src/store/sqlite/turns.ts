import { UnavailableError } from '../../domain/ports.ts';

/** A lock with a queue: who asks first has the first turn. */
export interface Turns {
  /**
   * Waits for a turn.
   *
   * @throws UnavailableError when it doesn't come in time
   */
  take(waitMs: number): Promise<void>;
  /** Ends the turn. The next begins in a turn of the event loop of its own, so that requests and other processes get in. */
  end(): void;
}

export function createTurns(): Turns {
  const waiting = new Set<() => void>();
  let taken = false;
  return {
    take(waitMs) {
      if (!taken) {
        taken = true;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const begin = () => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.delete(begin);
          reject(new UnavailableError(`Cannot write: others were writing for ${waitMs} ms`));
        }, waitMs);
        waiting.add(begin);
      });
    },
    end() {
      const [next] = waiting;
      if (next === undefined) {
        taken = false;
        return;
      }
      waiting.delete(next);
      setImmediate(next);
    },
  };
}
