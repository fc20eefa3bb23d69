import { type ClientError, isTransient } from './errors.ts';
import type { Settings } from './options.ts';

export interface CircuitBreaker {
  /** Whether a caller that has a cached result may send a request. If the breaker is half-open, the caller's request is the probe. */
  tryRequest(): boolean;
  /** The remaining milliseconds of the server's `retry-after`. */
  retryAfterMs(): number;
  /** Why the breaker is open. `undefined` if it is closed. */
  lastError(): ClientError | undefined;
  succeeded(): void;
  /** @param startedMs when the request began, by the monotonic clock */
  failed(error: ClientError, startedMs: number): void;
}

/**
 * Opens when the server fails. While it is open, cached results are served at once. When its delay is over it is half-open: one
 * request at a time probes the server.
 */
export function createCircuitBreaker({ clock, random, retry, timeouts }: Settings): CircuitBreaker {
  let failures = 0;
  let lastError: ClientError | undefined;
  let failedMs = 0;
  let nextProbeMs = 0;
  let retryAtMs = 0;

  function succeeded(): void {
    failures = 0;
    lastError = undefined;
    retryAtMs = 0;
  }

  return {
    tryRequest() {
      if (lastError === undefined) return true;
      const nowMs = clock.monotonicMs();
      if (nowMs < nextProbeMs) return false;
      nextProbeMs = nowMs + timeouts.headersMs; // no second probe until this one has ended
      return true;
    },
    retryAfterMs: () => Math.max(0, retryAtMs - clock.monotonicMs()),
    lastError: () => lastError,
    succeeded,
    failed(error, startedMs) {
      // An aborted probe says nothing about the server.
      if (error.code === 'aborted') nextProbeMs = Math.min(nextProbeMs, clock.monotonicMs());
      if (error.status !== undefined && !isTransient(error)) succeeded(); // the server works: it rejected the request
      if (!isTransient(error)) return;
      // Concurrent requests fail together: that is one failure.
      if (lastError === undefined || startedMs > failedMs) failures++;
      lastError = error;
      failedMs = clock.monotonicMs();
      nextProbeMs = failedMs + Math.max(backoffMs(retry, failures, random), cappedRetryAfterMs(error));
      if (error.retryAfterMs !== undefined) retryAtMs = failedMs + cappedRetryAfterMs(error);
    },
  };
}

/** Exponential backoff with jitter: the delay after this many failures. */
export function backoffMs(
  { baseDelayMs, maxDelayMs }: Settings['retry'],
  failures: number,
  random: () => number,
): number {
  const delayMs = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures - 1, 30));
  return delayMs * (1 - random() / 2);
}

/** A longer `retry-after` is not honoured. */
const maxRetryAfterMs = 5 * 60_000;

function cappedRetryAfterMs({ retryAfterMs = 0 }: ClientError): number {
  return Math.min(retryAfterMs, maxRetryAfterMs);
}
