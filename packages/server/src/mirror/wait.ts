import { setTimeout as sleep } from 'node:timers/promises';

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
