import type { Config } from './config.ts';

const MiB = 1024 * 1024;

/**
 * Returns the configuration of one worker: its share of the threads, queues, connections and memory, and its own metrics port. Shares have a
 * minimum, so that many workers may use more than the configured total.
 */
export function shareOf(config: Config): Config {
  const share = (total: number, minimum: number) =>
    Math.max(Math.min(minimum, total), Math.floor(total / config.workers));
  const largestBody = config.maxModuleBytes + config.maxConfigBytes + MiB; // 1 MiB for the delimiters of a form
  return {
    ...config,
    warnings: [], // the first process logs them
    metricsPort: config.metricsPort ? config.metricsPort + config.worker - 1 : config.metricsPort, // 0 is any free port
    moduleWorkers: share(config.moduleWorkers, 1),
    moduleQueue: share(config.moduleQueue, 1),
    simulationsAtOnce: share(config.simulationsAtOnce, 1),
    simulationQueue: share(config.simulationQueue, 1),
    passwordThreads: share(config.passwordThreads, 1),
    passwordQueue: share(config.passwordQueue, 1),
    databaseConnections: share(config.databaseConnections, 2), // so that a slow query leaves one for others
    responseCacheBytes: share(config.responseCacheBytes, 1),
    maxConnections: share(config.maxConnections, 1),
    contentCacheBytes: share(config.contentCacheBytes, 1),
    maxBodyMemoryBytes: share(config.maxBodyMemoryBytes, largestBody),
  };
}
