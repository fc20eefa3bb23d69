import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { createAllowances } from '../allowances.ts';
import type { Config } from '../config.ts';
import { createLog } from '../log.ts';
import { readProcess } from '../metrics/process.ts';
import { formatReadings } from '../metrics/readings.ts';
import { createRegistry } from '../metrics/registry.ts';
import { type MetricsServer, serveMetrics } from '../metrics/serve-metrics.ts';
import type { RunningServer } from '../serve.ts';
import { createGatherer } from './gather.ts';
import { type KeptWorker, keepWorker } from './keep-worker.ts';
import type { WorkerServer } from './messages.ts';
import { shareOf } from './share.ts';
import { startWorker } from './worker-process.ts';

/** How much longer than it may take a worker to stop it is waited for, in milliseconds. */
const lateMs = 30_000;

/**
 * Serves with as many processes as are configured, all on the one port. This process answers nothing but `/metrics`: it takes
 * connections, hands them to the workers in turn, counts for all of them what is limited, and starts another where one ends.
 *
 * @param onAnswering called once the first of them answers
 * @throws what `serve` throws, and WorkerEndedError for a worker that ends before it serves and doesn't say why
 */
export async function serveWithWorkers(
  config: Config,
  log: Logger = createLog(config.logLevel),
  onAnswering: () => void = () => {},
): Promise<RunningServer> {
  for (const warning of config.warnings) log.warn(warning);
  // Turns are fair, and a connection that comes for a worker that just stops goes to another one; sharing the socket is neither.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.once('listening', onAnswering);
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.ts', import.meta.url)), args: [] });

  const allowances = createAllowances(config);
  const share = { ...shareOf(config), warnings: [] };
  const failed = Promise.withResolvers<unknown>();
  const own = createRegistry();
  const exits = own.counter('tenon_process_exits_total', {});
  own.counter('tenon_process_scrapes_missed_total', {});
  const workers: KeptWorker[] = [];
  const gatherer = createGatherer(() => workers, own);
  let first: WorkerServer | undefined;
  let listenPort = config.port;

  /** Where the next worker is to listen. What all of them call 0 is one port for as long as one of them holds it. */
  const portOfNext = (): number => {
    if (first !== undefined && !workers.some(({ current }) => current()?.isListening())) listenPort = first.port;
    return listenPort;
  };
  const keep = (number: number): KeptWorker => {
    const worker = keepWorker({
      number,
      start: () => startWorker({ number, config: { ...share, port: portOfNext() }, start: first?.start }, allowances),
      log,
      onLost: (lost) => {
        exits.value++;
        gatherer.forget(lost);
      },
      onGivenUp: failed.resolve,
    });
    workers.push(worker);
    return worker;
  };

  let metricsServer: MetricsServer | undefined;
  let endReading: (() => void) | undefined;
  const stop = async (): Promise<void> => {
    const waitMs = config.drainMs + config.shutdownTimeoutMs + lateMs;
    await Promise.all(workers.map((worker) => worker.stop(waitMs)));
    await metricsServer?.close();
    endReading?.();
    log.info('stopped');
  };
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> => {
    if (stopped === undefined && config.drainMs > 0) log.info({ seconds: config.drainMs / 1000 }, 'draining');
    stopped ??= stop();
    return stopped;
  };

  try {
    if (config.metricsPort !== undefined) {
      endReading = readProcess(own);
      const text = async () => formatReadings(await gatherer.gather());
      metricsServer = await serveMetrics(text, { host: config.metricsHost, port: config.metricsPort });
    }
    first = await keep(1).listening; // before the others begin it has migrated, and made what a first start makes
    const others = Array.from({ length: config.workers - 1 }, (_, index) => keep(index + 2).listening);
    await Promise.all(others);
    const { url, port, start } = first;
    const metricsPort = metricsServer?.port;
    log.info({ url, host: config.host, port, metricsPort, workers: config.workers }, 'listening');
    return { url, port, metricsPort, start, failed: failed.promise, close };
  } catch (error) {
    await close();
    throw error;
  }
}
