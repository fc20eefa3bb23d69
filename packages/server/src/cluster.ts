import cluster from 'node:cluster';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, workerVariable } from './config/config.ts';
import { shareOf } from './config/share.ts';
import { handleSignals, type SignalHandler } from './ops/handle-signals.ts';
import { type OnListening, serve } from './server.ts';

/** The delay before a worker restarts. It doubles while the worker exits within `stableMs` of its start. */
const firstDelayMs = 100;
const maxDelayMs = 30_000;
const stableMs = 60_000;

/** How much longer than configured a worker may take to stop before it is killed. */
const stopGraceMs = 30_000;

/**
 * Serves with several processes on one port. The first process starts the workers by running its own command line again, restarts workers
 * that exit, and forwards SIGTERM and SIGINT. It serves no requests itself. Workers share only the port and the stores.
 */
export function serveWithWorkers(config: Config, onListening: OnListening, log: Logger): Promise<void> {
  return cluster.isPrimary ? supervise(config, log) : serveAsWorker(config, onListening, log);
}

async function supervise({ workers: count, warnings, drainMs, shutdownTimeoutMs }: Config, log: Logger): Promise<void> {
  for (const warning of warnings) log.warn(warning);
  // Workers accept connections themselves. A connection that the first process hands to a crashing worker would never be closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const signals = handleSignals(log);
  cluster.once('listening', signals.onServing);
  const stopping = new AbortController();
  let exitCode = 0;

  const killAll = (signal: NodeJS.Signals): void => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
  };
  const stop = (): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    killAll('SIGTERM');
    setTimeout(killAll, drainMs + shutdownTimeoutMs + stopGraceMs, 'SIGKILL').unref();
  };
  void signals.stopping.then(stop);

  const keepRunning = async (number: number, onReady: () => void): Promise<void> => {
    let wasReady = false;
    for (let failures = 0; !stopping.signal.aborted; ) {
      const startedMs = performance.now();
      const worker = cluster.fork({ [workerVariable]: String(number) });
      worker.once('message', () => {
        wasReady = true;
        onReady();
      });
      const [code, signal] = (await once(worker, 'exit').catch(() => [1, null])) as [number | null, string | null];
      if (stopping.signal.aborted) return;
      log.error({ worker: number, pid: worker.process.pid, code, signal }, 'worker exited');
      if (!wasReady) {
        exitCode = code || 1; // the worker has logged why it can't serve
        return stop();
      }
      failures = performance.now() - startedMs < stableMs ? failures + 1 : 1;
      const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1));
      await sleep(delayMs, undefined, stopping).catch(() => {});
    }
  };

  const first = Promise.withResolvers<void>();
  const running = [keepRunning(1, first.resolve)]; // migrates the stores before the others open them
  await Promise.race([first.promise, ...running]);
  for (let number = 2; number <= count; number++) running.push(keepRunning(number, () => {}));
  await Promise.all(running);
  log.info('stopped');
  if (exitCode !== 0) process.exit(exitCode);
}

async function serveAsWorker(config: Config, onListening: OnListening, log: Logger): Promise<void> {
  const ownLog = log.child({ worker: config.worker, pid: process.pid });
  const signals = handleSignals(ownLog, false);
  stopWithPrimary(signals);
  try {
    const server = await serve(shareOf(config), ownLog, signals.onServing);
    const isFirstStart = cluster.worker?.id === 1;
    if (isFirstStart && server.start !== undefined) onListening(server, server.start);
    process.send?.('ready');
    await signals.stopping;
    await server.close();
  } finally {
    if (process.connected) cluster.worker?.disconnect();
  }
}

/** Shuts down gracefully when the first process exits. Exits at once when it exits during a shutdown, which a second signal causes. */
function stopWithPrimary({ isServing, stop }: SignalHandler): void {
  cluster.worker?.once('disconnect', () => {
    const { worker } = cluster;
    if (worker === undefined || worker.exitedAfterDisconnect) return;
    if (!isServing()) process.exit(1);
    worker.exitedAfterDisconnect = true; // Node.js would exit here
    stop('SIGTERM');
  });
}
