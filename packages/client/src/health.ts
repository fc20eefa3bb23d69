import { type ClientError, isTrouble } from './errors.ts';
import type { Settings } from './options.ts';

/**
 * How the server is, as far as the last answers tell. While it is unwell, whoever has something kept is served that at once, and one
 * request at a time finds out whether it is well again: a host's visitors don't wait for a server that is down.
 */
export interface Health {
  /** Whether somebody who has something kept may ask. */
  mayAsk(): boolean;
  /** How much longer the server wants to be left alone, by its own `retry-after`, in milliseconds. */
  pauseMs(): number;
  /** Why it is unwell; `undefined` when it is well. */
  trouble(): ClientError | undefined;
  /** Takes note of an answer that makes sense. */
  succeeded(): void;
  /** Takes note of an error. @param startedMs when the request began, by the monotonic clock */
  failed(error: ClientError, startedMs: number): void;
}

export function createHealth({ clock, random, retry, timeouts }: Settings): Health {
  let failures = 0;
  let trouble: ClientError | undefined;
  let failedMs = 0;
  let notBeforeMs = 0;
  let pausedUntilMs = 0;

  function succeeded(): void {
    failures = 0;
    trouble = undefined;
    pausedUntilMs = 0;
  }

  return {
    mayAsk() {
      if (trouble === undefined) return true;
      const nowMs = clock.monotonicMs();
      if (nowMs < notBeforeMs) return false;
      notBeforeMs = nowMs + timeouts.headersMs; // whoever asks now asks for all
      return true;
    },
    pauseMs: () => Math.max(0, pausedUntilMs - clock.monotonicMs()),
    trouble: () => trouble,
    succeeded,
    failed(error, startedMs) {
      if (error.code === 'aborted') notBeforeMs = Math.min(notBeforeMs, clock.monotonicMs()); // it found out nothing
      if (error.status !== undefined && !isTrouble(error)) succeeded(); // a refusal, but an answer that makes sense
      if (!isTrouble(error)) return;
      // Requests that were on their way together fail together: that is one failure.
      if (trouble === undefined || startedMs > failedMs) failures++;
      trouble = error;
      failedMs = clock.monotonicMs();
      const waitMs = Math.max(backOffMs(retry, failures, random), cappedRetryAfterMs(error));
      notBeforeMs = failedMs + waitMs;
      if (error.retryAfterMs !== undefined) pausedUntilMs = failedMs + cappedRetryAfterMs(error);
    },
  };
}

/** The wait after so many failures: doubled each time up to a limit, shortened at random so that clients don't come back all at once. */
export function backOffMs(
  { baseDelayMs, maxDelayMs }: Settings['retry'],
  failures: number,
  random: () => number,
): number {
  const delayMs = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures - 1, 30));
  return delayMs * (1 - random() / 2);
}

/** Nobody is left alone for longer than this, whatever they say. */
const longestPauseMs = 5 * 60_000;

function cappedRetryAfterMs({ retryAfterMs = 0 }: ClientError): number {
  return Math.min(retryAfterMs, longestPauseMs);
}
