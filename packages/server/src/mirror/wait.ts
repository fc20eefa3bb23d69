import { setTimeout as sleep } from 'node:timers/promises';

/** The pause after a failure, and the longest one, in milliseconds. */
const retryMs = 500;
export const maxRetryMs = 60_000;

/** Waits for a promise, or for a time. @throws the reason of the signal, when it aborts */
export async function waitAtMost(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const pause = sleep(ms, undefined, { ref: false, signal: AbortSignal.any([signal, ended.signal]) });
  try {
    await Promise.race([promise, pause]);
  } finally {
    ended.abort();
    pause.catch(() => {});
  }
}

/** The pause after failures in a row, in milliseconds: exponential backoff with jitter. */
export function pauseAfter(failures: number): number {
  return Math.min(maxRetryMs, retryMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
