import { backoffMs, type CircuitBreaker } from './circuit-breaker.ts';
import { sleep } from './clock.ts';
import { ClientError, isTransient } from './errors.ts';
import type { Settings } from './options.ts';
import { createTokenRejection } from './token-rejection.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

export type Requester = ReturnType<typeof createRequester>;

/** Sends requests and retries them. */
export function createRequester(settings: Settings, transport: Transport, breaker: CircuitBreaker) {
  const { clock, random, retry } = settings;
  const rejection = createTokenRejection(settings);

  /** Waits for the end of the server's `retry-after`. */
  async function waitForRetryAfter(signal: AbortSignal): Promise<void> {
    const retryAfterMs = breaker.retryAfterMs();
    if (retryAfterMs === 0) return;
    if (retryAfterMs > retry.maxRetryAfterMs) throw retryLater(breaker.lastError(), retryAfterMs);
    await sleep(clock, retryAfterMs, signal);
  }

  return {
    /**
     * @param accept converts the response; if it throws `content_mismatch`, the next attempt bypasses all caches
     * @throws ClientError of the last attempt
     */
    async send<T>(
      request: Omit<TransportRequest, 'attempt'>,
      maxRetries: number,
      signal: AbortSignal,
      accept: (response: TransportResponse) => T | Promise<T>,
    ): Promise<T> {
      let hasRefreshedToken = false;
      let retries = 0;
      for (let attempt = 1, cache = request.cache; ; attempt++) {
        const rejected = rejection.error();
        if (rejected !== undefined) throw rejected;
        await waitForRetryAfter(signal);
        const startedMs = clock.monotonicMs();
        try {
          const response = await transport.exchange({ ...request, cache, attempt }, signal);
          breaker.succeeded();
          rejection.succeeded();
          return await accept(response);
        } catch (cause) {
          const error = cause as ClientError;
          breaker.failed(error, startedMs);
          rejection.failed(error, startedMs);
          if (error.status === 401 && settings.canRefreshToken && !hasRefreshedToken) {
            hasRefreshedToken = true;
            continue;
          }
          if (retries >= maxRetries || !(isTransient(error) || error.code === 'content_mismatch')) throw error;
          retries++;
          if (error.code === 'content_mismatch') cache = 'reload';
          else if (!error.retryAfterMs) await sleep(clock, backoffMs(retry, attempt, random), signal);
        }
      }
    },
  };
}

function retryLater(lastError: ClientError | undefined, retryAfterMs: number): ClientError {
  const { code = 'unavailable', status } = lastError ?? {};
  const text = `The server asked clients to retry in ${Math.ceil(retryAfterMs / 1000)} s`;
  return new ClientError(code, text, { status, retryAfterMs, cause: lastError });
}
