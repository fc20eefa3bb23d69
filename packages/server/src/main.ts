import process from 'node:process';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type RunningServer, serve } from './serve.ts';

/** For how long a signal may come again and still be the same: npm hands on what a terminal has sent to all already. */
const echoMs = 500;

/**
 * Serves until the process is told to stop (SIGTERM, SIGINT), then shuts down in order. A second signal ends it at once.
 *
 * @param onListening called once the server listens
 * @returns when all is closed
 */
export async function serveUntilStopped(
  config: Config,
  onListening: (server: RunningServer) => void = () => {},
  log?: Logger,
): Promise<void> {
  const server = await serve(config, log);
  const signalled = new Promise<void>((resolve) => {
    let isStopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isStopping) return;
      isStopping = true;
      setTimeout(() => process.off('SIGTERM', onSignal).off('SIGINT', onSignal), echoMs).unref();
      log?.info({ signal }, 'stopping');
      resolve();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
  onListening(server);
  await signalled;
  await server.close();
}
