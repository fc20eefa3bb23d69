import { createFairQueue } from '../workers/fair-queue.ts';
import { currentFairnessKey } from '../workers/fairness-key.ts';
import { UnavailableError } from './store-errors.ts';

/** A semaphore whose waiters take turns by their {@link currentFairnessKey}: a caller with many waiters doesn't delay the others. */
export type FairSemaphore = ReturnType<typeof createFairSemaphore>;

export function createFairSemaphore(permits = 1) {
  const waiting = createFairQueue<() => void>(Number.POSITIVE_INFINITY); // bounded by the limit of concurrent requests
  let free = permits;
  return {
    /** @throws UnavailableError if no permit is free in time */
    acquire(waitMs: number): Promise<void> {
      if (free > 0) {
        free--;
        return Promise.resolve();
      }
      const caller = currentFairnessKey();
      return new Promise((resolve, reject) => {
        const onAcquired = () => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.delete(caller, onAcquired);
          reject(new UnavailableError(`Cannot begin: other transactions took longer than ${waitMs} ms`));
        }, waitMs);
        waiting.add(caller, onAcquired);
      });
    },
    /**
     * Releases a permit in the next turn of the event loop. SQLite's calls are synchronous, so consecutive transactions without a
     * pause would block requests and other processes.
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
