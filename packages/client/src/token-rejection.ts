import { backoffMs } from './circuit-breaker.ts';
import type { ClientError } from './errors.ts';
import type { Settings } from './options.ts';

/** Remembers that the server rejects the token, so that each call doesn't send it again. */
export interface TokenRejection {
  /** The server's last error while the token must not be sent. */
  error(): ClientError | undefined;
  succeeded(): void;
  /** @param startedMs when the request began, by the monotonic clock */
  failed(error: ClientError, startedMs: number): void;
}

/**
 * After a 401, a constant token waits for an exponential backoff, and is then tried again. A token
 * function may return another token, so there is no wait.
 */
export function createTokenRejection({ clock, random, retry, canRefreshToken }: Settings): TokenRejection {
  let lastError: ClientError | undefined;
  let failures = 0;
  let failedMs = Number.NEGATIVE_INFINITY;
  let untilMs = Number.NEGATIVE_INFINITY;
  return {
    error: () => (clock.monotonicMs() < untilMs ? lastError : undefined),
    succeeded() {
      failures = 0;
      untilMs = Number.NEGATIVE_INFINITY;
    },
    failed(error, startedMs) {
      if (error.status !== 401 || canRefreshToken) return;
      if (startedMs > failedMs || failures === 0) failures++; // concurrent requests are rejected together
      lastError = error;
      failedMs = clock.monotonicMs();
      untilMs = failedMs + backoffMs(retry, failures, random);
    },
  };
}
