import process from 'node:process';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type RunningServer, serve } from './serve.ts';

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
    const onSignal = (signal: NodeJS.Signals): void => {
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
      log?.info({ signal }, 'stopping');
      resolve();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
  onListening(server);
  await signalled;
  await server.close();
}
