import type { Config } from '../config.ts';

const MiB = 1024 * 1024;

/**
 * What one worker gets of what is configured for all of them together: threads, queues, connections and memory. Each gets enough
 * to work with, so that very many workers may use more than was configured.
 */
export function shareOf(config: Config): Config {
  const share = (whole: number, least: number) => Math.max(Math.min(least, whole), Math.floor(whole / config.workers));
  const largestBody = config.maxModuleBytes + config.maxConfigBytes + MiB; // the last for what is between the parts of a form
  return {
    ...config,
    moduleWorkers: share(config.moduleWorkers, 1),
    moduleQueue: share(config.moduleQueue, 1),
    passwordThreads: share(config.passwordThreads, 1),
    passwordQueue: share(config.passwordQueue, 1),
    databaseConnections: share(config.databaseConnections, 2), // so that a long question isn't all that can be asked
    answerCacheBytes: share(config.answerCacheBytes, 1),
    maxConnections: share(config.maxConnections, 1),
    contentCacheBytes: share(config.contentCacheBytes, 1),
    maxBodyMemoryBytes: share(config.maxBodyMemoryBytes, largestBody),
  };
}
