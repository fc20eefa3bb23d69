import type { Config } from './config.ts';

const MiB = 1024 * 1024;

/**
 * The configuration of one worker: its part of the threads, queues, connections and memory that are configured for all workers, and its own
 * metrics port. Each gets enough to work with, so that very many workers may use more than was configured.
 */
export function shareOf(config: Config): Config {
  const share = (whole: number, least: number) => Math.max(Math.min(least, whole), Math.floor(whole / config.workers));
  const largestBody = config.maxModuleBytes + config.maxConfigBytes + MiB; // the last for what is between the parts of a form
  return {
    ...config,
    warnings: [], // the first process logs them
    metricsPort: config.metricsPort ? config.metricsPort + config.worker - 1 : config.metricsPort, // 0 is any free port
    moduleWorkers: share(config.moduleWorkers, 1),
    moduleQueue: share(config.moduleQueue, 1),
    passwordThreads: share(config.passwordThreads, 1),
    passwordQueue: share(config.passwordQueue, 1),
    databaseConnections: share(config.databaseConnections, 2), // so that a slow query leaves one for others
    responseCacheBytes: share(config.responseCacheBytes, 1),
    maxConnections: share(config.maxConnections, 1),
    contentCacheBytes: share(config.contentCacheBytes, 1),
    maxBodyMemoryBytes: share(config.maxBodyMemoryBytes, largestBody),
  };
}
