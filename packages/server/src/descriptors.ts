import process from 'node:process';
import type { Logger } from 'pino';

/** Descriptors for what a process always has open: its database, its sockets, the pipes of its workers. */
const ownDescriptors = 64;

/** Of the other descriptors, the part for connections. The rest is for files and for connections to stores. */
const connectionShare = 3 / 4;

/** How many errors a chain of causes is followed. */
const maxCauses = 8;

/** How many descriptors this process may have open; `undefined` where the system has no such limit. */
export function descriptorLimit(): number | undefined {
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true; // looks up no names
  try {
    const { userLimits } = report.getReport() as { readonly userLimits?: { readonly open_files?: { soft?: unknown } } };
    const soft = userLimits?.open_files?.soft;
    return typeof soft === 'number' ? soft : undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** How many connections fit a limit of descriptors, with room for files; at least 1. */
export function connectionsWithin(limit: number): number {
  return Math.max(1, Math.floor((limit - ownDescriptors) * connectionShare));
}

/**
 * Lowers `maxConnections` to what the process's limit of descriptors has room for, and warns when it does.
 *
 * @param log no warning without it
 */
export function boundConnections<C extends { readonly maxConnections: number }>(
  config: C,
  log: Pick<Logger, 'warn'> | undefined,
  limit: number | undefined = descriptorLimit(),
): C {
  if (limit === undefined) return config;
  const maxConnections = Math.min(config.maxConnections, connectionsWithin(limit));
  if (maxConnections === config.maxConnections) return config;
  log?.warn(
    { descriptorLimit: limit, configured: config.maxConnections, maxConnections },
    'the limit of descriptors (ulimit -n) has no room for TENON_LIMITS connections: fewer connections are taken',
  );
  return { ...config, maxConnections };
}

/** Whether an error, or one of its causes, says that the process or the system has no descriptors left. */
export function isOutOfDescriptors(error: unknown): boolean {
  let at = error;
  for (let seen = 0; at instanceof Error && seen < maxCauses; at = at.cause, seen++) {
    if ('code' in at && (at.code === 'EMFILE' || at.code === 'ENFILE')) return true;
  }
  return false;
}
