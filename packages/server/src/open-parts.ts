import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openFolderBlobStore } from './blobs/fs/folder-blob-store.ts';
import type { Config } from './config.ts';
import { createUseLog } from './domain/authenticate.ts';
import type { Context } from './domain/context.ts';
import { createSnapshots } from './domain/snapshots.ts';
import { createByteBudget } from './http/bodies/byte-budget.ts';
import { createClientAddresses } from './http/client-address.ts';
import { createContentCache } from './http/content-cache.ts';
import type { Addresses, Parts } from './http/parts.ts';
import { createRateLimiter } from './http/rate-limiter.ts';
import { buildOpenApi } from './openapi.ts';
import { openSqliteStore } from './store/sqlite/store.ts';
import { version } from './version.ts';
import { createModuleWorkers } from './workers/module-workers.ts';

/** What works on a data folder without HTTP. */
export interface DataParts {
  readonly context: Context;
  readonly workers: Parts['workers'];
  /** Closes the workers and the stores. */
  close(): Promise<void>;
}

/**
 * Opens a data folder, which another process may have open too; it is made when it isn't there.
 *
 * @throws NewerSchemaError when a newer version wrote it, and the file system's errors
 */
export async function openData(config: Config): Promise<DataParts> {
  const { dataDir } = config;
  const store = await openSqliteStore({ file: join(dataDir, 'tenon.db') });
  const blobs = await openFolderBlobStore({ folder: join(dataDir, 'blobs') }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const workers = createModuleWorkers(config);
  const context: Context = {
    store,
    blobs,
    checker: workers,
    snapshots: createSnapshots(store),
    clock: Date.now,
    random: randomBytes,
    limits: { invitationLifetimeMs: config.invitationLifetimeMs, maxPluginsPerGuest: config.maxPluginsPerGuest },
  };
  return {
    context,
    workers,
    async close() {
      await workers.close();
      await blobs.close();
      await store.close();
    },
  };
}

/** Makes what HTTP works with out of an opened data folder. */
export function createParts(config: Config, data: DataParts, addresses: Addresses, log: Logger): Parts {
  const { context, workers } = data;
  const { clock } = context;
  return {
    context,
    workers,
    uses: createUseLog(context),
    contents: createContentCache(context.blobs, config.contentCacheBytes),
    bodyBudget: createByteBudget(config.maxBodyMemoryBytes),
    addresses,
    clients: createClientAddresses(config.trustedProxies),
    writes: createRateLimiter(config.writesPerSecond, config.writeBurst, clock),
    codeTries: createRateLimiter(config.codeTriesPerMinute / 60, config.codeTriesPerMinute, clock),
    openApi: () => buildOpenApi({ only: config.only, base: addresses.base(), instrument: addresses.instrument() }),
    settings: config,
    log,
    version,
  };
}
