import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { createLastUsedLog } from './auth/last-used-log.ts';
import { createDevicePolls } from './auth/oauth/device-polls.ts';
import { createSignInProviders } from './auth/oidc/providers.ts';
import { createCommonPasswords } from './auth/passwords/common-passwords.ts';
import { createPasswordWorkers, type PasswordWorkers, passwordCost } from './auth/passwords/password-hasher.ts';
import type { PasswordCost } from './auth/passwords/password-tasks.ts';
import { createIssuerKeys } from './auth/trusted-publishing/issuer-keys.ts';
import { createContentCache } from './blobs/content-cache.ts';
import { createStoredContents } from './blobs/stored-contents.ts';
import { createCache } from './cache/cache.ts';
import { type ChangeFeed, createChangeFeed } from './changes/change-feed.ts';
import type { Config } from './config/config.ts';
import { defaultBaseUrl } from './config/listen-address.ts';
import { version } from './config/version.ts';
import { defaultConsoleBuilds, readConsole } from './console/console-files.ts';
import type { Clock } from './db/store.ts';
import type { Deps } from './deps.ts';
import { defaultDocsBuilds, readDocs } from './docs/docs-files.ts';
import { createByteBudget } from './http/bodies/body-memory.ts';
import { createClientAddresses } from './http/client-address.ts';
import { transportSecurityOf } from './http/known-hosts.ts';
import { createKeyedMutex } from './http/limits/keyed-mutex.ts';
import { createKeyedSemaphore } from './http/limits/keyed-semaphore.ts';
import { createRequestLimits, monotonicClock, type RequestLimits } from './http/limits/request-limits.ts';
import { createModuleWorkers } from './instrument/module-workers.ts';
import { createSynchronizedCheck } from './mirror/synchronized.ts';
import { assertDatabaseNotLost, closeStores, openStores, type Stores } from './open-stores.ts';
import { createOpenApiText } from './openapi.ts';
import { CopyError } from './ops/copy/errors.ts';
import { instrumentBlobs } from './ops/metrics/instrument-blobs.ts';
import type { Metrics, PoolName } from './ops/metrics/metrics.ts';
import { createStoreMetrics } from './ops/metrics/store-metrics.ts';
import { createReadiness } from './ops/status/readiness.ts';
import { totalsOf } from './ops/status/request-totals.ts';
import { createStatus } from './ops/status/status.ts';
import type { Tracing } from './ops/tracing/tracing.ts';
import { defaultPackageBuilds, readOwnPackages } from './packages/own-packages.ts';
import type { Addresses, Services } from './services.ts';
import { createSimulationRuns, type SimulationRuns } from './simulations/simulation-runs.ts';
import { createSimulator } from './simulations/simulator.ts';
import { createUsageCounter } from './usage/usage-counter.ts';
import { withEffects } from './with-effects.ts';
import type { OnTaskEnd } from './workers/pool.ts';

/** The services that don't need HTTP. */
export interface DataServices {
  readonly deps: Deps;
  /** The port that the server listens on. Set it when it is known, if the configured one is 0. */
  readonly bound: { port: number };
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly workers: Services['workers'];
  readonly passwords: PasswordWorkers;
  readonly simulationRuns: SimulationRuns;
  readonly changes: ChangeFeed;
  readonly limits: RequestLimits;
  /** The clock of the rate limits. */
  readonly monotonicClock: Clock;
  /** Closes the workers and the stores. */
  close(): Promise<void>;
}

/**
 * Opens the stores and creates the services on them. Creates the data folder if it is missing. Another process may have it open too.
 *
 * @param cost the cost of a password hash; lower in tests
 * @param log for failures of the processes of simulations
 * @throws NewerSchemaError for a data folder of a newer version; file system errors
 */
export async function openData(
  config: Config,
  cost: PasswordCost = passwordCost,
  metrics?: Metrics,
  tracing?: Tracing,
  log?: Logger,
): Promise<DataServices> {
  await assertDatabaseNotLost(config);
  const limits = createRequestLimits(config);
  const opened = await openFinishedStores(config);
  const counted = metrics === undefined ? opened.blobs : instrumentBlobs(opened.blobs, metrics.registry);
  const blobs = tracing?.traceBlobs(counted) ?? counted;
  const store = withEffects(opened.store, {
    changes: {
      clock: Date.now,
      random: randomBytes,
      keep: config.changesPerApp,
      onEmitted: () => changes.notify(),
    },
    metrics: metrics && createStoreMetrics(metrics.registry),
    spans: tracing?.storeSpans,
  });
  const onTaskEnd = (pool: PoolName): NonNullable<OnTaskEnd> => {
    const listeners = [metrics?.tasksOf(pool), tracing?.tasksOf(pool)];
    return (...end) => {
      for (const listener of listeners) listener?.(...end);
    };
  };
  const workers = createModuleWorkers(config, onTaskEnd('modules'));
  const passwords = createPasswordWorkers({ ...config, cost }, onTaskEnd('passwords'));
  const simulator = createSimulator(config, log, onTaskEnd('simulations'));
  const changes = createChangeFeed(store);
  const bound = { port: config.port };
  const withoutTester: Omit<Deps, 'tester'> = {
    store,
    blobs,
    contents: createStoredContents({ store, blobs, onDamage: metrics?.onDamage }),
    checker: workers,
    simulator,
    cache: createCache(store, config.responseCacheBytes),
    baseUrl: () => config.publicUrl ?? defaultBaseUrl(config.host, bound.port),
    clock: Date.now,
    random: randomBytes,
    passwords,
    commonPasswords: createCommonPasswords(),
    rates: limits.rates,
    refusalCounts: metrics?.refusals,
    signInProviders: createSignInProviders(config.signIn, Date.now),
    mutex: createKeyedMutex(),
    settings: config,
  };
  const simulationRuns = createSimulationRuns(withoutTester, log);
  const deps: Deps = { ...withoutTester, tester: simulationRuns };
  return {
    deps,
    bound,
    simulationRuns,
    workers,
    passwords,
    changes,
    limits,
    monotonicClock,
    metrics,
    tracing,
    async close() {
      changes.close();
      await simulationRuns.stop();
      await workers.close();
      await simulator.close();
      await passwords.close();
      await blobs.close();
      await store.close();
    },
  };
}

/** @throws CopyError `unfinished_copy` */
async function openFinishedStores(config: Config): Promise<Stores> {
  const stores = await openStores(config);
  try {
    if (!(await stores.store.read.isUnfinishedCopy())) return stores;
    throw new CopyError('unfinished_copy', 'The store is an unfinished copy of another store.');
  } catch (error) {
    await closeStores(stores);
    throw error;
  }
}

/** Creates the services of the HTTP server. */
export function createServices(config: Config, data: DataServices, addresses: Addresses, log: Logger): Services {
  const { deps, workers, changes } = data;
  const { rates, changeStreams } = data.limits;
  const clients = createClientAddresses(config);
  const observed = {
    changeStreams,
    contents: createContentCache(deps.contents, config.contentCacheBytes),
    draining: { isOn: false },
    readiness: createReadiness(deps),
    requests: data.metrics?.requests,
  };
  return {
    ...observed,
    isSynchronized: createSynchronizedCheck(deps, config.mirror),
    deps,
    workers,
    lastUsed: createLastUsedLog(deps, clients, data.metrics?.onNewNetwork),
    usage: createUsageCounter(deps, { log }),
    changes,
    status: createStatus({
      ...observed,
      store: deps.store,
      simulator: deps.simulator,
      clock: deps.clock,
      settings: config,
      totals: () => totalsOf(observed.requests),
      workers,
      passwords: data.passwords,
      eventLoop: data.metrics?.eventLoop,
    }),
    bodyBudget: createByteBudget(config.maxBodyMemoryBytes),
    requestSemaphore: createKeyedSemaphore(Number.POSITIVE_INFINITY, config.requestsPerAccount),
    addresses,
    transportSecurity: transportSecurityOf(addresses),
    clients,
    writes: rates.writes,
    codeTries: rates.codeTries,
    deviceLogins: rates.deviceLogins,
    publicReads: rates.publicReads,
    devicePolls: createDevicePolls(data.monotonicClock),
    issuerKeys: createIssuerKeys({ settings: config, clock: data.monotonicClock }),
    console: config.only === undefined ? readConsole(defaultConsoleBuilds) : undefined,
    packages: config.only === undefined ? readOwnPackages(defaultPackageBuilds) : [],
    docs: readDocs(defaultDocsBuilds),
    openApi: createOpenApiText(config.only, addresses),
    traces: data.tracing?.requests,
    settings: config,
    log,
    version,
  };
}
