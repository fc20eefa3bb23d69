import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a controller that also aborts with a signal. Unlike `AbortSignal.any()`, the signal keeps it alive until one of both aborts.
 */
export function linkedController(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true, signal: controller.signal });
  return controller;
}

/** Waits for a promise, or for a time. @throws the reason of the signal, when it aborts */
export async function waitAtMost(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const waiting = linkedController(signal);
  const pause = sleep(ms, undefined, { ref: false, signal: waiting.signal });
  try {
    await Promise.race([promise, pause]);
  } finally {
    waiting.abort();
    pause.catch(() => {});
  }
}
