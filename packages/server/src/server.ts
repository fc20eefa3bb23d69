import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { finishPendingChanges } from './apps/finish-deletions.ts';
import { createClockCheck } from './blobs/clock-gap.ts';
import { startGarbageCollector } from './blobs/garbage-collector.ts';
import { assertBlobsKnown, UnknownBlobsError } from './blobs/unknown-objects.ts';
import type { Config } from './config/config.ts';
import { defaultBaseUrl } from './config/listen-address.ts';
import { makeDurableFolder } from './db/durable-folder.ts';
import { createStartupRetry } from './db/startup-retry.ts';
import { ReadOnlyError } from './db/store.ts';
import { capConnections } from './http/limits/file-descriptors.ts';
import { createServices, openData } from './open-services.ts';
import { type FirstStart, firstStart } from './ops/first-start.ts';
import { lockFolder } from './ops/folder-lock.ts';
import { createLog } from './ops/log.ts';
import { runMaintenance } from './ops/maintenance.ts';
import { createMetrics, type Metrics } from './ops/metrics/metrics.ts';
import { type MetricsServer, serveMetrics } from './ops/metrics/serve-metrics.ts';
import { startHeartbeat } from './ops/status/heartbeat.ts';
import { statusTickMs } from './ops/status/status.ts';
import type { Tracing } from './ops/tracing/tracing.ts';
import { bindingsPath } from './plugins/binding-routes.ts';
import type { Addresses, Services } from './services.ts';

/** A server that listens. */
export interface RunningServer {
  /** `{base_url}`: where clients reach it. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /** The port that it tells metrics on, if it does. */
  readonly metricsPort: number | undefined;
  /** What this start found in the data folder, or made there; `undefined` for workers other than the first. */
  readonly start: FirstStart | undefined;
  /**
   * Serves on for as long as load balancers are given to look elsewhere, stops accepting, finishes what is in flight (for as long
   * as the configuration allows), writes what is still to be written, and closes everything in order. Called again, it returns the same promise.
   */
  close(): Promise<void>;
}

/** Called when a server listens and its start is complete. */
export type OnListening = (server: RunningServer, start: FirstStart) => void;

/** How often uses of tokens, keys and sessions are written. */
const flushIntervalMs = 60_000;

/** How often expired rows are deleted: sessions, links, codes, audit events, change events. */
const maintenanceIntervalMs = 60 * 60_000;

/** How often it is looked for changes that nobody has finished. */
const finishIntervalMs = 60_000;

/**
 * Opens the data folder and serves it over HTTP.
 *
 * @param onResponse called once it answers requests, before its start is complete
 * @throws NewerSchemaError for a data folder of a newer version, UnknownBlobsError for a database without plugins beside some, UnavailableError when a store stays away for 15 seconds, and the
 * errors of the file system and of listening
 */
export async function serve(
  configured: Config,
  log: Logger = createLog(configured.logLevel),
  onResponse: () => void = () => {},
): Promise<RunningServer> {
  for (const warning of configured.warnings) log.warn(warning);
  const runsJobs = configured.worker === 1;
  const config = capConnections(configured, runsJobs ? log : undefined); // one of several warns for all
  const metrics = createMetrics(config, bindingsPath);
  const tracing = await openTracing(config, log);
  const retryWhileUnavailable = createStartupRetry(log);
  await makeDurableFolder(config.dataDir); // also where it keeps nothing but quickstart.env
  const data = await retryWhileUnavailable(() => openData(config, undefined, metrics, tracing));
  try {
    await assertBlobsKnown(data.deps);
  } catch (error) {
    // A blob store that is away is told of by the readiness.
    if (error instanceof UnknownBlobsError) {
      await data.close();
      await tracing?.close();
      metrics.close();
      throw error;
    }
  }
  const folderLock = runsJobs ? lockFolder(config.dataDir) : undefined;
  const bound = { port: config.port };
  const services = createServices(config, data, addressesOf(config, bound), log);
  const app = createApp(services);
  metrics.watch(data, services);
  if (tracing !== undefined) metrics.watchSpans(() => tracing.counts());
  let metricsServer: MetricsServer | undefined;
  const stopping = new AbortController();
  const checkClock = createClockCheck(data.deps, data.monotonicClock);
  const timers = [
    setInterval(() => void flushLastUsed(services), flushIntervalMs),
    setInterval(() => services.status.tick(), statusTickMs),
    ...(runsJobs ? [setInterval(() => void runMaintenance(services, checkClock), maintenanceIntervalMs)] : []),
    ...(runsJobs ? [setInterval(() => void finishChanges(services, stopping.signal), finishIntervalMs)] : []),
  ];
  for (const timer of timers) timer.unref();
  const collector = runsJobs ? startGarbageCollector(data.deps, config, log) : undefined;
  const isNode = config.databaseUrl !== undefined;
  const heartbeat = isNode ? startHeartbeat(data.deps, services.status, log) : undefined;

  const stop = async (): Promise<void> => {
    stopping.abort();
    for (const timer of timers) clearInterval(timer);
    const collected = collector?.stop();
    const deadline = setTimeout(() => app.server.closeAllConnections(), config.shutdownTimeoutMs);
    app.server.keepAliveTimeout = 1; // answers that have begun don't say that they are the last, and clients keep their connections
    await app.close();
    clearTimeout(deadline);
    await flushLastUsed(services);
    await collected;
    await heartbeat?.stop();
    await data.close();
    folderLock?.release();
    await tracing?.close();
    await metricsServer?.close(); // last, so that what a shutdown waits for can be seen
    metrics.close();
    log.info('stopped');
  };
  const drain = async (): Promise<void> => {
    if (config.drainMs === 0) return;
    log.info({ seconds: config.drainMs / 1000 }, 'draining');
    services.draining.isOn = true;
    app.closeAfterResponses();
    await sleep(config.drainMs);
  };
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> => {
    stopped ??= drain().then(stop);
    return stopped;
  };

  try {
    metricsServer = await openMetrics(config, metrics);
    app.server.once('listening', onResponse);
    bound.port = await app.listen(config.host, config.port);
    const { dataDir, demo, host, only } = config;
    const url = services.addresses.base();
    const onNotWritten = (error: unknown) => log.warn({ err: error }, 'quickstart.env could not be written');
    const options = { dataDir, demo, host, only, url, onNotWritten, holdsFolderLock: folderLock !== undefined };
    const start = runsJobs ? await retryWhileUnavailable(() => firstStart(data.deps, options)) : undefined;
    if (runsJobs && folderLock === undefined) {
      log.warn({ dataDir }, 'another server holds this data folder: quickstart.env keeps its URL');
    }
    if (runsJobs) await runMaintenance(services, checkClock);
    if (runsJobs) void finishChanges(services, stopping.signal);
    await heartbeat?.beat();
    if (runsJobs) void logReadinessFailures(services);
    log.info({ url, host, port: bound.port, metricsPort: metricsServer?.port }, 'listening');
    return { url, port: bound.port, metricsPort: metricsServer?.port, start, close };
  } catch (error) {
    stopped ??= stop(); // nobody was told that it serves
    await stopped;
    throw error;
  }
}

/** Where nothing is traced, nothing of it is loaded. */
async function openTracing(config: Config, log: Logger): Promise<Tracing | undefined> {
  if (config.otelEndpoint === undefined) return undefined;
  const { openTracing } = await import('./ops/tracing/tracing.ts');
  return openTracing(config, log);
}

async function openMetrics({ metricsHost, metricsPort }: Config, metrics: Metrics): Promise<MetricsServer | undefined> {
  if (metricsPort === undefined) return undefined;
  return serveMetrics(metrics.registry.text, { host: metricsHost, port: metricsPort });
}

function addressesOf(config: Config, bound: { readonly port: number }): Addresses {
  const base = (): string => config.publicUrl ?? defaultBaseUrl(config.host, bound.port);
  return { base, instrument: () => config.instrumentUrl ?? base() };
}

/** A node that starts with a wrong bucket serves lists, and should say at once what it can't. Never rejects. */
async function logReadinessFailures({ readiness, log }: Services): Promise<void> {
  for (const { store, cause } of await readiness.failures()) log.warn({ err: cause, store }, 'not ready');
  for (const { store, cause } of await readiness.writeFailures())
    log.warn({ err: cause, store }, 'not ready for changes');
}

async function flushLastUsed({ lastUsed: uses, log }: Services): Promise<void> {
  await uses.flush().catch((error: unknown) => {
    if (!(error instanceof ReadOnlyError)) log.error({ err: error }, 'uses of tokens could not be written');
  });
}

/** Finishes what changes of very many rows have left: a process may have ended in the middle of one. Never rejects. */
async function finishChanges({ deps, log }: Services, signal: AbortSignal): Promise<void> {
  try {
    const settled = await finishPendingChanges(deps, signal);
    if (settled.plugins + settled.deletions > 0) log.info(settled, 'finished pending changes');
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'pending changes could not be finished');
  }
}
