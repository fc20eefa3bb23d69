import { constants } from 'node:os';
import process from 'node:process';
import type { Logger } from 'pino';
import { serveWithWorkers } from './cluster/primary.ts';
import type { Config } from './config.ts';
import { createLog } from './log.ts';
import { type RunningServer, serve } from './serve.ts';

/** A repeated signal within this time is a duplicate: npm forwards signals that the terminal has already sent to all processes. */
const duplicateSignalMs = 500;

/**
 * Serves with the configured number of processes until SIGTERM or SIGINT, then shuts down gracefully. A second signal kills the process at
 * once, and so does a signal before the server accepts requests.
 *
 * @param onListening called when the server listens and its first start is complete
 * @returns when everything is closed
 * @throws the error that prevents the server from starting or from continuing
 */
export async function serveUntilStopped(
  config: Config,
  onListening: (server: RunningServer) => void = () => {},
  log: Logger = createLog(config.logLevel),
): Promise<void> {
  const signals = listenForSignals(log);
  try {
    const { onServing } = signals;
    const server = await (config.workers === 1
      ? serve(config, log, undefined, onServing)
      : serveWithWorkers(config, log, onServing));
    onListening(server);
    const failure = await Promise.race([signals.stopping, server.failed ?? signals.stopping]);
    await server.close();
    if (failure !== undefined) throw failure;
  } catch (error) {
    signals.release();
    throw error;
  }
}

/**
 * Handles SIGTERM and SIGINT. Before the server accepts requests, they kill the process, as without a listener. A listener is still needed:
 * the kernel delivers to a container's first process only signals that it listens for
 * (https://man7.org/linux/man-pages/man7/pid_namespaces.7.html). The listener stays the same throughout, because a signal that arrives
 * while one listener replaces another would be lost.
 */
function listenForSignals(log: Logger) {
  const { promise: stopping, resolve } = Promise.withResolvers<undefined>();
  let state: 'starting' | 'serving' | 'stopping' = 'starting';
  const release = (): void => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  const onSignal = (signal: NodeJS.Signals): void => {
    if (state === 'starting') {
      release();
      process.kill(process.pid, signal);
      process.exit(128 + constants.signals[signal]); // the shells' convention
    }
    if (state === 'stopping') return;
    state = 'stopping';
    setTimeout(release, duplicateSignalMs).unref();
    log.info({ signal }, 'stopping');
    resolve(undefined);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return {
    /** Resolves on the first signal after `onServing()`. */
    stopping,
    /** Call when the server accepts requests. From then on, a signal starts a graceful shutdown. */
    onServing(): void {
      state = 'serving';
    },
    release,
  };
}
