import type { Logger } from 'pino';
import type { Config } from './config/config.ts';
import { handleSignals } from './ops/handle-signals.ts';
import { createLog } from './ops/log.ts';
import { type OnListening, serve } from './server.ts';

/**
 * Serves with the configured number of processes until SIGTERM or SIGINT, then shuts down gracefully. A second signal kills the process at
 * once, and so does a signal before the server accepts requests.
 *
 * @param onListening called when the server listens and its first start is complete
 * @returns when everything is closed
 * @throws the error that prevents the server from starting
 */
export async function serveUntilStopped(
  config: Config,
  onListening: OnListening = () => {},
  log: Logger = createLog(config.logLevel),
): Promise<void> {
  if (config.workers > 1) {
    const { serveWithWorkers } = await import('./cluster.ts');
    return serveWithWorkers(config, onListening, log);
  }
  const signals = handleSignals(log);
  try {
    const server = await serve(config, log, signals.onServing);
    if (server.start !== undefined) onListening(server, server.start);
    await signals.stopping;
    await server.close();
  } catch (error) {
    signals.release();
    throw error;
  }
}
