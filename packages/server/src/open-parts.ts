import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { createCommonPasswords } from './common-passwords.ts';
import type { Config } from './config.ts';
import { demandAudit } from './domain/audit/demand.ts';
import { createUseLog } from './domain/authenticate.ts';
import type { Context } from './domain/context.ts';
import type { GuessLimits } from './domain/guesses.ts';
import { createNewsFeed, type NewsFeed } from './domain/news/feed.ts';
import { tellNews } from './domain/news/tell.ts';
import { createDevicePolls } from './domain/oauth/device-polls.ts';
import type { Clock, Store } from './domain/ports.ts';
import { createSnapshots } from './domain/snapshots.ts';
import { createByteBudget } from './http/bodies/byte-budget.ts';
import { createClientAddresses } from './http/client-address.ts';
import { defaultConsoleBuilds, readConsole } from './http/console-files.ts';
import { createContentCache } from './http/content-cache.ts';
import { createDraining } from './http/draining.ts';
import type { Addresses, Parts } from './http/parts.ts';
import { createRateLimiter } from './http/rate-limiter.ts';
import { createSlots } from './http/slots.ts';
import { countBlobs } from './metrics/count-blobs.ts';
import { countStore } from './metrics/count-store.ts';
import type { Metrics } from './metrics/metrics.ts';
import { openStores, type Stores } from './open-stores.ts';
import { buildOpenApi } from './openapi.ts';
import { version } from './version.ts';
import { createModuleWorkers } from './workers/module-workers.ts';
import { createPasswordWorkers, type PasswordWorkers, passwordCost } from './workers/password-hasher.ts';
import type { PasswordCost } from './workers/password-tasks.ts';

/** What works on a data folder without HTTP. */
export interface DataParts {
  readonly context: Context;
  /** What counts, where it was asked for. */
  readonly metrics: Metrics | undefined;
  /** The store below that of the context, which is this one with news of changed lists, and the demand that every change leaves a row in the audit trail. */
  readonly store: Store;
  readonly workers: Parts['workers'];
  readonly passwords: PasswordWorkers;
  readonly news: NewsFeed;
  /** Closes the workers and the stores. */
  close(): Promise<void>;
}

/**
 * Opens a data folder, which another process may have open too; it is made when it isn't there.
 *
 * @param cost what hashing a password is to cost
 * @param metrics counts what is done with it
 * @throws NewerSchemaError when a newer version wrote it, and the file system's errors
 */
export async function openData(
  config: Config,
  cost: PasswordCost = passwordCost,
  metrics?: Metrics | undefined,
): Promise<DataParts> {
  const { store, blobs } = countStores(await openStores(config), metrics);
  const workers = createModuleWorkers(config, metrics?.tasksOf('modules'));
  const passwords = createPasswordWorkers({ ...config, cost }, metrics?.tasksOf('passwords'));
  const news = createNewsFeed(store);
  const telling = { clock: Date.now, random: randomBytes, keep: config.newsPerApp, onTold: news.told };
  const context: Context = {
    store: demandAudit(tellNews(store, telling)),
    blobs,
    checker: workers,
    snapshots: createSnapshots(store),
    clock: Date.now,
    random: randomBytes,
    passwords,
    commonPasswords: createCommonPasswords(),
    guesses: createGuessLimits(config, Date.now),
    limits: config,
    signUp: config.signUp,
  };
  return {
    context,
    store,
    workers,
    passwords,
    news,
    metrics,
    async close() {
      news.close();
      await workers.close();
      await passwords.close();
      await blobs.close();
      await store.close();
    },
  };
}

function countStores({ store, blobs }: Stores, metrics: Metrics | undefined): Stores {
  if (metrics === undefined) return { store, blobs };
  const { registry } = metrics;
  return { store: countStore(store, registry), blobs: countBlobs(blobs, registry) };
}

const hourSeconds = 60 * 60;

/** How many wrong passwords for one account may come at once; more come as slowly as the configuration says. */
const accountTriesAtOnce = 10;

export function createGuessLimits(
  config: Pick<Config, 'signInTriesPerMinute' | 'accountTriesPerHour' | 'signInsPerMinute'>,
  clock: Clock,
): GuessLimits {
  const { signInTriesPerMinute, accountTriesPerHour, signInsPerMinute } = config;
  const ofAccount = () => createRateLimiter(accountTriesPerHour / hourSeconds, accountTriesAtOnce, clock);
  return {
    byAddress: createRateLimiter(signInTriesPerMinute / 60, signInTriesPerMinute, clock),
    byAccount: ofAccount(),
    byKnownBrowser: ofAccount(),
    byAsker: ofAccount(),
    ofRight: createRateLimiter(signInsPerMinute / 60, signInsPerMinute, clock),
  };
}

/** Makes what HTTP works with out of an opened data folder. */
export function createParts(config: Config, data: DataParts, addresses: Addresses, log: Logger): Parts {
  const { context, workers, news } = data;
  const { clock } = context;
  return {
    context,
    workers,
    uses: createUseLog(context),
    news,
    newsStreams: createSlots(config.newsStreams, config.newsStreamsPerToken),
    contents: createContentCache(context.blobs, config.contentCacheBytes),
    draining: createDraining(),
    bodyBudget: createByteBudget(config.maxBodyMemoryBytes),
    addresses,
    clients: createClientAddresses(config.trustedProxies),
    writes: createRateLimiter(config.writesPerSecond, config.writeBurst, clock),
    codeTries: createRateLimiter(config.codeTriesPerMinute / 60, config.codeTriesPerMinute, clock),
    deviceLogins: createRateLimiter(config.deviceLoginsPerMinute / 60, config.deviceLoginsPerMinute, clock),
    devicePolls: createDevicePolls(clock),
    signUps: createRateLimiter(config.signUpsPerHour / hourSeconds, config.signUpsPerHour, clock),
    console: config.only === undefined ? readConsole(defaultConsoleBuilds) : undefined,
    openApi: () => buildOpenApi({ only: config.only, base: addresses.base(), instrument: addresses.instrument() }),
    requests: data.metrics?.requests,
    settings: config,
    log,
    version,
  };
}
