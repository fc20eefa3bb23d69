import { constants } from 'node:os';
import process from 'node:process';
import type { Logger } from 'pino';

/** A repeated signal within this time is a duplicate: npm forwards signals that the terminal has already sent to all processes. */
const duplicateSignalMs = 500;

export type SignalHandler = ReturnType<typeof handleSignals>;

/**
 * Handles SIGTERM and SIGINT. Before the server accepts requests, they kill the process, as without a listener. A listener is still needed:
 * the kernel delivers to a container's first process only signals that it listens for
 * (https://man7.org/linux/man-pages/man7/pid_namespaces.7.html). The listener stays the same throughout, because a signal that arrives
 * while one listener replaces another would be lost.
 *
 * @param killsAtSecond whether a second signal kills the process
 */
export function handleSignals(log: Logger, killsAtSecond = true) {
  const { promise: stopping, resolve } = Promise.withResolvers<undefined>();
  let state: 'starting' | 'serving' | 'stopping' = 'starting';
  const release = (): void => void process.off('SIGTERM', stop).off('SIGINT', stop);
  const stop = (signal: NodeJS.Signals): void => {
    if (state === 'starting') {
      release();
      process.kill(process.pid, signal);
      process.exit(128 + constants.signals[signal]); // the shells' convention
    }
    if (state === 'stopping') return;
    state = 'stopping';
    if (killsAtSecond) setTimeout(release, duplicateSignalMs).unref();
    log.info({ signal }, 'stopping');
    resolve(undefined);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  return {
    /** Resolves on the first signal after `onServing()`. */
    stopping,
    /** Whether the server accepts requests, and was not stopped. */
    isServing: (): boolean => state === 'serving',
    /** Call when the server accepts requests. From then on, a signal starts a graceful shutdown. */
    onServing(): void {
      state = 'serving';
    },
    /** Does what a signal does. */
    stop,
    /** Leaves signals to their defaults. */
    release,
  };
}
