import process from 'node:process';
import { interruptedError } from './errors.ts';

/** For how long a signal may come again and still be the same: npm hands on what a terminal has sent to all already. */
const echoMs = 500;

/**
 * Runs work that this process's SIGINT or SIGTERM asks, by its signal, to clean up and end. A second one ends the process at
 * once, as any does when there is no such work.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    if (controller.signal.aborted) return;
    controller.abort(interruptedError(signal));
    setTimeout(forget, echoMs).unref();
  };
  const forget = () => process.off('SIGINT', stop).off('SIGTERM', stop);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    return await work(controller.signal);
  } finally {
    forget();
  }
}
