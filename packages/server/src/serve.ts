import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { startCollector } from './collector.ts';
import type { Config } from './config.ts';
import { trimAudit } from './domain/audit/read.ts';
import { trimNews } from './domain/news/trim.ts';
import { type FirstStart, firstStart } from './first-start.ts';
import { closeAfterAnswers } from './http/draining.ts';
import type { Addresses, Parts } from './http/parts.ts';
import { bindingsPath } from './http/routes/bindings.ts';
import { defaultBaseUrl } from './listen-address.ts';
import { createLog } from './log.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { type MetricsServer, serveMetrics } from './metrics/serve-metrics.ts';
import { createParts, openData } from './open-parts.ts';

/** A server that listens. */
export interface RunningServer {
  /** `{base_url}`: where clients reach it. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /** The port that it tells metrics on, if it does. */
  readonly metricsPort: number | undefined;
  /** What this start found in the data folder, or made there. */
  readonly start: FirstStart;
  /**
   * Serves on for as long as load balancers are given to look elsewhere, stops accepting, finishes what is in flight (for as long
   * as the configuration allows), writes what is still to be written, and closes everything in order. Called again, it returns the same promise.
   */
  close(): Promise<void>;
}

/** How often uses of tokens, keys and sessions are written. */
const flushIntervalMs = 60_000;

/** How often what has served its time is cleared away: sessions, links, codes, and what audit trails are to forget. */
const clearIntervalMs = 60 * 60_000;

/** How long it is kept before that, so that who opens an old link is told that it is old. */
const keptWhenEndedMs = 7 * 24 * 60 * 60_000;

/**
 * Opens the data folder and serves it over HTTP.
 *
 * @throws NewerSchemaError for a data folder of a newer version, and the errors of the file system and of listening
 */
export async function serve(config: Config, log: Logger = createLog(config.logLevel)): Promise<RunningServer> {
  for (const warning of config.warnings) log.warn(warning);
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(config, bindingsPath);
  const data = await openData(config, undefined, metrics);
  const bound = { port: config.port };
  const parts = createParts(config, data, addressesOf(config, bound), log);
  const app = createApp(parts);
  metrics?.watch(data, parts);
  let metricsServer: MetricsServer | undefined;
  const timers = [
    setInterval(() => void flushUses(parts), flushIntervalMs),
    setInterval(() => void clearAway(parts), clearIntervalMs),
  ];
  for (const timer of timers) timer.unref();
  const collector = startCollector(data.context, config, log);

  const stop = async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer);
    const collected = collector.stop();
    const deadline = setTimeout(() => app.server.closeAllConnections(), config.shutdownTimeoutMs);
    await app.close();
    clearTimeout(deadline);
    await flushUses(parts);
    await collected;
    await data.close();
    await metricsServer?.close(); // last, so that what a shutdown waits for can be seen
    metrics?.close();
    log.info('stopped');
  };
  const drain = async (): Promise<void> => {
    if (config.drainMs === 0) return;
    log.info({ seconds: config.drainMs / 1000 }, 'draining');
    parts.draining.begin();
    closeAfterAnswers(app.server);
    await sleep(config.drainMs);
  };
  let stopped: Promise<void> | undefined;
  const close = (): Promise<void> => {
    stopped ??= drain().then(stop);
    return stopped;
  };

  try {
    metricsServer = await openMetrics(config, metrics);
    await app.listen({ host: config.host, port: config.port });
    bound.port = (app.server.address() as AddressInfo).port;
    const { dataDir, demo, host, only } = config;
    const url = parts.addresses.base();
    const start = await firstStart(data.context, { dataDir, demo, host, only, url });
    await clearAway(parts);
    log.info({ url, host, port: bound.port, metricsPort: metricsServer?.port }, 'listening');
    return { url, port: bound.port, metricsPort: metricsServer?.port, start, close };
  } catch (error) {
    stopped ??= stop(); // nobody was told that it serves
    await stopped;
    throw error;
  }
}

async function openMetrics(
  { metricsHost, metricsPort }: Config,
  metrics: Metrics | undefined,
): Promise<MetricsServer | undefined> {
  if (metrics === undefined || metricsPort === undefined) return undefined;
  return serveMetrics(metrics.registry, { host: metricsHost, port: metricsPort });
}

function addressesOf(config: Config, bound: { readonly port: number }): Addresses {
  const base = (): string => config.publicUrl ?? defaultBaseUrl(config.host, bound.port);
  return { base, instrument: () => config.instrumentUrl ?? base() };
}

async function flushUses({ uses, log }: Parts): Promise<void> {
  await uses.flush().catch((error: unknown) => log.error({ err: error }, 'uses of tokens could not be written'));
}

/** Deletes what has served its time: what has ended, what the audit trails are to forget, and old news. */
async function clearAway(parts: Parts): Promise<void> {
  await clearEnded(parts);
  await clearAudit(parts);
  await clearNews(parts);
}

async function clearEnded({ context, log }: Parts): Promise<void> {
  const beforeMs = context.clock() - keptWhenEndedMs;
  await context.store
    .write((tx) => tx.deleteEnded(beforeMs))
    .catch((error: unknown) => log.error({ err: error }, 'what has ended could not be cleared away'));
}

async function clearAudit({ context, settings, log }: Parts): Promise<void> {
  if (settings.auditRetentionMs === undefined) return;
  try {
    const deleted = await trimAudit(context, settings.auditRetentionMs);
    if (deleted > 0) log.info({ deleted }, 'forgot what audit trails are no longer to tell');
  } catch (error) {
    log.error({ err: error }, 'audit trails could not be shortened');
  }
}

async function clearNews({ context, settings, log }: Parts): Promise<void> {
  await trimNews(context, settings.newsRetentionMs).catch((error: unknown) =>
    log.error({ err: error }, 'old news could not be cleared away'),
  );
}
