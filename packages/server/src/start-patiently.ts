import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ReadOnlyError, UnavailableError } from './domain/ports.ts';

/** For how long a start waits for stores that are away, in milliseconds: machines come up in any order. */
const startWaitMs = 15_000;

/** After how long they are tried again. */
const againMs = 200;

/** Does something that a start needs its stores for; again when they were away, as long as the start may wait. */
export type Patiently = <T>(work: () => Promise<T>) => Promise<T>;

/** The wait is one for all that a start does. What can't be done in it fails with the last `UnavailableError`. */
export function startPatiently(log: Logger, waitMs: number = startWaitMs): Patiently {
  const endsAt = performance.now() + waitMs;
  let isTold = false;
  return async (work) => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isAway = error instanceof UnavailableError && !(error instanceof ReadOnlyError);
        if (!isAway || performance.now() > endsAt) throw error;
        if (!isTold) log.warn({ err: error, seconds: waitMs / 1000 }, 'waiting for the stores');
        isTold = true;
        await sleep(againMs);
      }
    }
  };
}
