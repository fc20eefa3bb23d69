import { constants } from 'node:os';
import process from 'node:process';
import type { Logger } from 'pino';
import { serveWithWorkers } from './cluster/primary.ts';
import type { Config } from './config.ts';
import { createLog } from './log.ts';
import { type RunningServer, serve } from './serve.ts';

/** For how long a signal may come again and still be the same: npm hands on what a terminal has sent to all already. */
const echoMs = 500;

/**
 * Serves, with as many processes as are configured, until the process is told to stop (SIGTERM, SIGINT), then shuts down in order. A
 * second signal ends it at once, and so does one before it answers anybody.
 *
 * @param onListening called once the server listens, and all is made that a start makes
 * @returns when all is closed
 * @throws what keeps it from serving, or from serving on
 */
export async function serveUntilStopped(
  config: Config,
  onListening: (server: RunningServer) => void = () => {},
  log: Logger = createLog(config.logLevel),
): Promise<void> {
  const signals = heedSignals(log);
  try {
    const { answers } = signals;
    const server = await (config.workers === 1
      ? serve(config, log, undefined, answers)
      : serveWithWorkers(config, log, answers));
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
 * Until a server answers there is nothing to finish, and signals end the process as they do anyway: but for the first process of a
 * container, to which the kernel hands only what it listens for (https://man7.org/linux/man-pages/man7/pid_namespaces.7.html). It is
 * one listener from the beginning to the end: a signal that comes while one takes the place of another is lost.
 */
function heedSignals(log: Logger) {
  const { promise: stopping, resolve } = Promise.withResolvers<undefined>();
  let state: 'starting' | 'answering' | 'stopping' = 'starting';
  const release = (): void => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  const onSignal = (signal: NodeJS.Signals): void => {
    if (state === 'starting') {
      release();
      process.kill(process.pid, signal);
      process.exit(128 + constants.signals[signal]); // as shells have it
    }
    if (state === 'stopping') return;
    state = 'stopping';
    setTimeout(release, echoMs).unref();
    log.info({ signal }, 'stopping');
    resolve(undefined);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return {
    /** Resolves when the server is told to stop. */
    stopping,
    /** From now on signals tell it to stop, as soon as its start has come to an end. */
    answers(): void {
      state = 'answering';
    },
    release,
  };
}
