import { createFairQueue } from '../../workers/fair-queue.ts';
import { currentFairnessKey } from '../../workers/fairness-key.ts';
import { UnavailableError } from '../store.ts';

/** A semaphore with a queue in which callers take turns: an account or network waits for one other work of each other one. */
export type FairSemaphore = ReturnType<typeof createFairSemaphore>;

/** @param places how many works may run at once */
export function createFairSemaphore(places = 1) {
  const waiting = createFairQueue<() => void>(Number.POSITIVE_INFINITY); // each is a request, and those are bounded
  let free = places;
  return {
    /**
     * Waits for a place, in the turn of the {@link currentFairnessKey}.
     *
     * @throws UnavailableError when none is free in time
     */
    acquire(waitMs: number): Promise<void> {
      if (free > 0) {
        free--;
        return Promise.resolve();
      }
      const caller = currentFairnessKey();
      return new Promise((resolve, reject) => {
        const begin = () => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.delete(caller, begin);
          reject(new UnavailableError(`Cannot write: others were writing for ${waitMs} ms`));
        }, waitMs);
        waiting.add(caller, begin);
      });
    },
    /**
     * Gives the place back. The next work begins in a later turn of the event loop, even if none waits yet: SQLite's calls are
     * synchronous, so works that follow one another directly would let neither requests nor other processes in between.
     */
    release(): void {
      setImmediate(() => {
        const next = waiting.take(() => true);
        if (next === undefined) free++;
        else next();
      });
    },
  };
}
