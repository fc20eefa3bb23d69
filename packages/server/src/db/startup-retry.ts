import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ReadOnlyError, UnavailableError } from './store.ts';

/** How long a starting server waits for unavailable stores. Machines of one deployment start in any order. */
const startupWaitMs = 15_000;

const retryDelayMs = 200;

/** Runs a step of the startup, and retries it while a store is unavailable. */
type StartupRetry = <T>(step: () => Promise<T>) => Promise<T>;

/** @param waitMs the time for all steps together; after it, the last `UnavailableError` is thrown */
export function createStartupRetry(log: Logger, waitMs: number = startupWaitMs): StartupRetry {
  const deadlineMs = performance.now() + waitMs;
  let hasLogged = false;
  return async (step) => {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        const isRetryable = error instanceof UnavailableError && !(error instanceof ReadOnlyError);
        if (!isRetryable || performance.now() > deadlineMs) throw error;
        if (!hasLogged) log.warn({ err: error, seconds: waitMs / 1000 }, 'waiting for the stores');
        hasLogged = true;
        await sleep(retryDelayMs);
      }
    }
  };
}
