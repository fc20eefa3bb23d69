import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { finishPendingChanges } from './apps/finish-deletions.ts';
import { ensureSigningKey } from './attestations/signing-keys.ts';
import { startAuditSealer } from './audit/sealer.ts';
import { type SyslogSender, startSyslogSender } from './audit/syslog-sender.ts';
import { createClockCheck } from './blobs/clock-gap.ts';
import { startGarbageCollector } from './blobs/garbage-collector.ts';
import { assertBlobsKnown, assertBlobsPresent, MissingBlobsError, UnknownBlobsError } from './blobs/unknown-objects.ts';
import type { Config } from './config/config.ts';
import { describeStore } from './config/store-places.ts';
import { makeDurableFolder } from './db/durable-folder.ts';
import { createStartupRetry } from './db/startup-retry.ts';
import { ReadOnlyError, StorageFullError } from './db/store.ts';
import type { Deps } from './deps.ts';
import { capConnections } from './http/limits/file-descriptors.ts';
import { type Mirror, startMirror } from './mirror/mirror.ts';
import { assertMirrorStore, ForeignStoreError } from './mirror/mirror-store.ts';
import { createServices, openData } from './open-services.ts';
import { type FirstStart, firstStart, usesDataFolder } from './ops/first-start.ts';
import { lockFolder } from './ops/folder-lock.ts';
import { createLog } from './ops/log.ts';
import { createMailComposer } from './ops/mail/compose-mail.ts';
import { type MailSender, startMailSender } from './ops/mail/send-mails.ts';
import { runMaintenance } from './ops/maintenance.ts';
import { createMetrics } from './ops/metrics/metrics.ts';
import { type MetricsServer, serveMetrics } from './ops/metrics/serve-metrics.ts';
import { startHeartbeat } from './ops/status/heartbeat.ts';
import { statusTickMs } from './ops/status/status.ts';
import type { Tracing } from './ops/tracing/tracing.ts';
import { offerPackages } from './packages/offer-packages.ts';
import { bindingsPath } from './plugins/binding-routes.ts';
import { releaseDueVersions } from './plugins/release-versions.ts';
import { advanceRollOuts } from './plugins/roll-outs/advance.ts';
import type { Addresses, Services } from './services.ts';
import { startWebhookSender } from './webhooks/sender.ts';

/** A server that listens. */
export interface RunningServer {
  /** `{base_url}` */
  readonly url: string;
  readonly port: number;
  /** The port of `GET /metrics`, if there is one. */
  readonly metricsPort: number | undefined;
  /** What this start found or created in the data folder; `undefined` for workers other than the first. */
  readonly start: FirstStart | undefined;
  /**
   * Shuts down gracefully: serves for the drain time, stops accepting requests, waits for those in progress until the shutdown time-out,
   * then closes all services. Further calls return the same promise.
   */
  close(): Promise<void>;
}

/** Called when a server listens and its start is complete. */
export type OnListening = (server: RunningServer, start: FirstStart) => void;

/** How often the usage, and the times at which tokens, keys and sessions were last used, are written. */
const flushIntervalMs = 60_000;

/** How often expired rows are deleted: sessions, links, codes, audit events, change events. */
const maintenanceIntervalMs = 60 * 60_000;

/** How often the server finishes changes that another process has started but not finished. */
const finishIntervalMs = 60_000;

/** How often the server looks for versions that have their minimum age. */
const releaseIntervalMs = 5_000;

/**
 * Opens the stores and serves them over HTTP.
 *
 * @param onServing called when the server accepts requests, before its start is complete
 * @throws NewerSchemaError for a data folder of a newer version; UnknownBlobsError for a database without plugins next to a blob store with
 *   some, and MissingBlobsError for the reverse; ForeignStoreError for a mirror on the data of another server, and for the reverse; UnavailableError when a store is unavailable for 15 seconds; file system and network errors
 */
export async function serve(
  configured: Config,
  log: Logger = createLog(configured.logLevel),
  onServing: () => void = () => {},
): Promise<RunningServer> {
  for (const warning of configured.warnings) log.warn(warning);
  const isFirstWorker = configured.worker === 1; // runs the background jobs, and warns for all workers
  const config = capConnections(configured, isFirstWorker ? log : undefined);
  const metrics = createMetrics(config, bindingsPath);
  const tracing = await openTracing(config, log);
  const retryWhileUnavailable = createStartupRetry(log);
  const isMirror = config.mirror !== undefined;
  const hasDataFolder = usesDataFolder({ ...config, isMirror });
  if (hasDataFolder) await makeDurableFolder(config.dataDir);
  const data = await retryWhileUnavailable(() => openData(config, undefined, metrics, tracing, log));
  try {
    await assertBlobsKnown(data.deps);
    await assertBlobsPresent(data.deps);
    await assertMirrorStore(data.deps, config.mirror);
  } catch (error) {
    // The readiness check reports an unavailable blob store.
    if (
      error instanceof UnknownBlobsError ||
      error instanceof MissingBlobsError ||
      error instanceof ForeignStoreError
    ) {
      await data.close();
      await tracing?.close();
      metrics.close();
      throw error;
    }
  }
  const folderLock = isFirstWorker && hasDataFolder ? lockFolder(config.dataDir) : undefined;
  const { bound } = data;
  const services = createServices(config, data, addressesOf(config, data.deps), log);
  const app = createApp(services);
  metrics.watch(data, services);
  metrics.watchSimulationRuns(data.simulationRuns);
  if (tracing !== undefined) metrics.watchSpans(() => tracing.counts());
  let metricsServer: MetricsServer | undefined;
  const stopping = new AbortController();
  const checkClock = createClockCheck(data.deps, data.monotonicClock);
  const timers = [
    setInterval(() => void flushLastUsed(services), flushIntervalMs),
    setInterval(() => void flushUsage(services), flushIntervalMs),
    setInterval(() => services.status.tick(), statusTickMs),
  ];
  if (isFirstWorker) {
    timers.push(setInterval(() => void runMaintenance(services, checkClock), maintenanceIntervalMs));
    timers.push(setInterval(() => void finishChanges(services, stopping.signal), finishIntervalMs));
    timers.push(setInterval(() => void releaseVersions(services, stopping.signal), releaseIntervalMs));
    timers.push(setInterval(() => void advance(services, stopping.signal), releaseIntervalMs));
  }
  for (const timer of timers) timer.unref();
  const collector = isFirstWorker ? startGarbageCollector(data.deps, config, log) : undefined;
  const mailSender = isFirstWorker ? startMailSenderOf(services) : undefined;
  if (mailSender !== undefined) metrics.watchMails(mailSender);
  const sealer = isFirstWorker ? startAuditSealer({ deps: data.deps, log }) : undefined;
  if (sealer !== undefined) metrics.watchAuditChain(sealer);
  const syslogSender = isFirstWorker ? startSyslogSenderOf(services) : undefined;
  if (syslogSender !== undefined) metrics.watchSyslog(syslogSender);
  const webhookSender = isFirstWorker ? startWebhookSender({ deps: data.deps, log }) : undefined;
  if (webhookSender !== undefined) metrics.watchWebhooks(webhookSender);
  const mirror = isFirstWorker ? startMirrorOf(services) : undefined;
  if (mirror !== undefined) metrics.watchMirror(mirror);
  if (isFirstWorker) data.simulationRuns.start();
  const isNode = config.databaseUrl !== undefined;
  const heartbeat = isNode ? startHeartbeat(data.deps, services.status, log) : undefined;

  const stop = async (): Promise<void> => {
    stopping.abort();
    for (const timer of timers) clearInterval(timer);
    const collected = collector?.stop();
    const deadline = setTimeout(() => app.server.closeAllConnections(), config.shutdownTimeoutMs);
    // Clients keep the connections of responses that began without `connection: close`.
    app.server.keepAliveTimeout = 1;
    await app.close();
    clearTimeout(deadline);
    await flushLastUsed(services);
    await flushUsage(services);
    await collected;
    await mailSender?.stop();
    await syslogSender?.stop();
    await webhookSender?.stop();
    await mirror?.stop();
    await sealer?.stop();
    await data.simulationRuns.stop();
    await heartbeat?.stop();
    await data.close();
    folderLock?.release();
    await tracing?.close();
    await metricsServer?.close(); // last, so that metrics show what a shutdown waits for
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

  try {
    if (config.metricsPort !== undefined) {
      metricsServer = await serveMetrics(metrics.registry.text, { host: config.metricsHost, port: config.metricsPort });
    }
    app.server.once('listening', onServing);
    bound.port = await app.listen(config.host, config.port);
    const { dataDir, demo, host, only } = config;
    const url = services.addresses.base();
    const onNotWritten = (error: unknown) => log.warn({ err: error }, 'quickstart.env could not be written');
    const holdsFolderLock = folderLock !== undefined;
    const options = { dataDir, hasDataFolder, demo, host, only, isMirror, url, onNotWritten, holdsFolderLock };
    let start: FirstStart | undefined;
    if (isFirstWorker) {
      start = await retryWhileUnavailable(() => firstStart(data.deps, options));
      if (config.only === undefined && !isMirror) await ensureSigningKeyUnlessReadOnly(data.deps);
      if (hasDataFolder && !holdsFolderLock) {
        log.warn({ dataDir }, 'another server holds this data folder: quickstart.env keeps its URL');
      }
      await runMaintenance(services, checkClock);
      void finishChanges(services, stopping.signal);
      await offerPackages(data.deps, services.packages, log);
    }
    await heartbeat?.beat();
    if (isFirstWorker) {
      void logReadinessFailures(services);
      logMissingProtections(services);
      void logUnusableSignIn(services);
    }
    const store = describeStore(config);
    log.info({ url, host, port: bound.port, metricsPort: metricsServer?.port, store }, 'listening');
    return {
      url,
      port: bound.port,
      metricsPort: metricsServer?.port,
      start,
      close: () => (stopped ??= drain().then(stop)),
    };
  } catch (error) {
    stopped ??= stop();
    await stopped;
    throw error;
  }
}

function startMailSenderOf({ deps, addresses, log }: Services): MailSender | undefined {
  const { smtp: server } = deps.settings;
  if (server === undefined) return undefined;
  return startMailSender({ deps, server, compose: createMailComposer(deps, addresses), log });
}

function startSyslogSenderOf({ deps, log }: Services): SyslogSender | undefined {
  const { auditSyslog: server } = deps.settings;
  return server && startSyslogSender({ deps, server, log });
}

function startMirrorOf({ deps, log }: Services): Mirror | undefined {
  const { mirror: settings } = deps.settings;
  return settings && startMirror({ deps, settings, log });
}

/** Loads the tracing modules only if tracing is configured. */
async function openTracing(config: Config, log: Logger): Promise<Tracing | undefined> {
  if (config.otelEndpoint === undefined) return undefined;
  const { openTracing } = await import('./ops/tracing/tracing.ts');
  return openTracing(config, log);
}

function addressesOf(config: Config, { baseUrl }: Pick<Deps, 'baseUrl'>): Addresses {
  return { base: baseUrl, instrument: () => config.instrumentUrl ?? baseUrl() };
}

/** Logs unavailable stores at the start: a server with a wrong bucket still serves lists. Never rejects. */
async function logReadinessFailures({ readiness, log }: Services): Promise<void> {
  for (const { store, cause } of await readiness.failures()) log.warn({ err: cause, store }, 'not ready');
  for (const { store, cause } of await readiness.writeFailures()) {
    log.warn({ err: cause, store }, 'not ready for changes');
  }
}

/** Logs how simulations are less confined than they could be. */
function logMissingProtections({ deps: { simulator, settings }, log }: Services): void {
  const { protections } = simulator;
  if (settings.simulations === 'off') return;
  if (!protections.includes('permissions')) log.warn('simulations: none run, because they need Node.js 26 or later');
  else if (!protections.includes('limits'))
    log.warn({ protections }, 'simulations: no resource limits, without prlimit');
}

/** Warns if users can't sign in: passwords are off, and no provider works. Never rejects. */
async function logUnusableSignIn({ deps: { settings, signInProviders }, log }: Services): Promise<void> {
  if (settings.signIn.passwordSignIn) return;
  const found = await Promise.allSettled(signInProviders.all.map((provider) => provider.discover()));
  const errors = found.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  if (errors.length === found.length) log.warn({ errors }, 'password sign-in is off, and no sign-in provider works');
}

async function flushLastUsed({ lastUsed, log }: Services): Promise<void> {
  await lastUsed.flush().catch((error: unknown) => {
    if (!(error instanceof ReadOnlyError)) log.error({ err: error }, 'last-used times could not be written');
  });
}

async function flushUsage({ usage, log }: Services): Promise<void> {
  await usage.flush().catch((error: unknown) => {
    if (!(error instanceof ReadOnlyError)) log.error({ err: error }, 'usage could not be written');
  });
}

/** Creates the signing key. A read-only store needs none: it takes no publish. */
async function ensureSigningKeyUnlessReadOnly(deps: Deps): Promise<void> {
  await ensureSigningKey(deps).catch((error: unknown) => {
    if (!(error instanceof ReadOnlyError || error instanceof StorageFullError)) throw error;
  });
}

/** Finishes large changes that were interrupted by the end of a process. Never rejects. */
async function finishChanges({ deps, log }: Services, signal: AbortSignal): Promise<void> {
  try {
    const settled = await finishPendingChanges(deps, signal);
    if (settled.plugins + settled.deletions > 0) log.info(settled, 'finished pending changes');
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'pending changes could not be finished');
  }
}

/** Publishes the versions that have their minimum age. Never rejects. */
async function releaseVersions({ deps, log }: Services, signal: AbortSignal): Promise<void> {
  try {
    const versions = await releaseDueVersions(deps, signal);
    if (versions > 0) log.info({ versions }, 'minimum age: published versions');
  } catch (error) {
    if (!signal.aborted && !(error instanceof ReadOnlyError)) {
      log.error({ err: error }, 'minimum age: versions could not be published');
    }
  }
}

/** Moves the roll-outs whose step ends. Never rejects. */
async function advance({ deps, log }: Services, signal: AbortSignal): Promise<void> {
  try {
    const rollOuts = await advanceRollOuts(deps, signal);
    if (rollOuts > 0) log.info({ rollOuts }, 'roll-outs: moved to the next step');
  } catch (error) {
    if (!signal.aborted && !(error instanceof ReadOnlyError)) {
      log.error({ err: error }, 'roll-outs could not be moved');
    }
  }
}
