import { sleep } from './clock.ts';
import { ClientError, isTrouble } from './errors.ts';
import { backOffMs, type Health } from './health.ts';
import type { Settings } from './options.ts';
import type { Answer, Outgoing, Transport } from './transport.ts';

/** Asks again where that may help. */
export interface Requester {
  /**
   * @param accept makes something of an answer; when it throws `content_mismatch`, the next attempt passes by all caches
   * @throws ClientError the last attempt's
   */
  ask<T>(
    request: Omit<Outgoing, 'attempt'>,
    attempts: number,
    signal: AbortSignal,
    accept: (answer: Answer) => T | Promise<T>,
  ): Promise<T>;
}

export function createRequester(settings: Settings, transport: Transport, health: Health): Requester {
  const { clock, random, retry } = settings;

  /** Leaves a server alone that has asked for it. */
  async function heedPause(signal: AbortSignal): Promise<void> {
    const pauseMs = health.pauseMs();
    if (pauseMs === 0) return;
    if (pauseMs > retry.maxRetryAfterMs) throw withPause(health.trouble(), pauseMs);
    await sleep(clock, pauseMs, signal);
  }

  return {
    async ask(request, attempts, signal, accept) {
      let hasRenewedToken = false;
      for (let attempt = 1, cache = request.cache; ; attempt++) {
        await heedPause(signal);
        const startedMs = clock.monotonicMs();
        try {
          const answer = await transport.exchange({ ...request, cache, attempt }, signal);
          health.succeeded();
          return await accept(answer);
        } catch (cause) {
          const error = cause as ClientError;
          health.failed(error, startedMs);
          if (error.status === 401 && settings.canRenewToken && !hasRenewedToken) {
            hasRenewedToken = true;
            attempts++;
            continue;
          }
          if (attempt >= attempts || !(isTrouble(error) || error.code === 'content_mismatch')) throw error;
          if (error.code === 'content_mismatch') cache = 'reload';
          else if (!error.retryAfterMs) await sleep(clock, backOffMs(retry, attempt, random), signal);
        }
      }
    },
  };
}

function withPause(trouble: ClientError | undefined, retryAfterMs: number): ClientError {
  const { code = 'unavailable', status } = trouble ?? {};
  const text = `The server wants to be left alone for another ${Math.ceil(retryAfterMs / 1000)} s`;
  return new ClientError(code, text, { status, retryAfterMs, cause: trouble });
}
