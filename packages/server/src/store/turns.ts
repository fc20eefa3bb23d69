import { UnavailableError } from '../domain/ports.ts';

/** A lock with a queue: who asks first has the first turn. */
export interface Turns {
  /**
   * Waits for a turn.
   *
   * @throws UnavailableError when it doesn't come in time
   */
  take(waitMs: number): Promise<void>;
  /**
   * Ends the turn. The next begins in a later turn of the event loop, even if nobody waits yet: works that come one after the
   * other would else never let anything in between, since SQLite's calls are synchronous, nor another process.
   */
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
      setImmediate(() => {
        const [next] = waiting;
        if (next === undefined) {
          taken = false;
          return;
        }
        waiting.delete(next);
        next();
      });
    },
  };
}
