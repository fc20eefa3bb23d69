import process from 'node:process';
import type { Logger } from 'pino';

/** Reserved for the database, listening sockets, and the pipes of workers. */
const reservedDescriptors = 64;

/** The share of the other descriptors for client connections. The rest is for files and for connections to stores. */
const connectionShare = 3 / 4;

const maxCauseDepth = 8;

/** Returns the maximum number of open file descriptors of this process; `undefined` if the system has no such limit. */
export function fileDescriptorLimit(): number | undefined {
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true; // otherwise the report makes DNS queries
  try {
    const { userLimits } = report.getReport() as { readonly userLimits?: { readonly open_files?: { soft?: unknown } } };
    const soft = userLimits?.open_files?.soft;
    return typeof soft === 'number' ? soft : undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** Returns the number of client connections that a limit of file descriptors allows; at least 1. */
export function connectionsForLimit(limit: number): number {
  return Math.max(1, Math.floor((limit - reservedDescriptors) * connectionShare));
}

/**
 * Lowers `maxConnections` to what the process's limit of file descriptors allows, with a warning.
 *
 * @param log `undefined` to suppress the warning
 */
export function capConnections<C extends { readonly maxConnections: number }>(
  config: C,
  log: Pick<Logger, 'warn'> | undefined,
  limit: number | undefined = fileDescriptorLimit(),
): C {
  if (limit === undefined) return config;
  const maxConnections = Math.min(config.maxConnections, connectionsForLimit(limit));
  if (maxConnections === config.maxConnections) return config;
  log?.warn(
    { descriptorLimit: limit, configured: config.maxConnections, maxConnections },
    'the connections of TENON_LIMITS exceed the limit of file descriptors (ulimit -n): accepting fewer connections',
  );
  return { ...config, maxConnections };
}

/** Whether an error, or one of its causes, means that the process or the system has no file descriptors left. */
export function isOutOfFileDescriptors(error: unknown): boolean {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < maxCauseDepth; current = current.cause, depth++) {
    if ('code' in current && (current.code === 'EMFILE' || current.code === 'ENFILE')) return true;
  }
  return false;
}
