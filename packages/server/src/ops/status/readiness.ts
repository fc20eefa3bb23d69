import type { BlobStore } from '../../blobs/blob-store.ts';
import { ReadOnlyError, StorageFullError, type Store, UnavailableError } from '../../db/store.ts';

/** How long a ping of a store may take. */
const pingTimeoutMs = 2000;

/**
 * How long results are cached: failures, and successful write pings. Readiness can be requested without authentication, so requests
 * must not load the stores.
 */
const cacheMs = 1000;

/** A store that can't be used. While the failure is cached, it is the same object. */
export interface StoreFailure {
  readonly store: 'metadata store' | 'blob store';
  /** A predicate that completes "the blob store …". It doesn't reveal the store's location. */
  readonly reason: string;
  /** The original error, for the log only. */
  readonly cause: unknown;
}

export interface PingResult {
  readonly durationMs: number;
  /** Set if the store can't be used. */
  readonly failure: StoreFailure | undefined;
}

/** Checks whether the stores can be used. Its methods never reject, and take at most as long as the ping timeout. */
export type Readiness = ReturnType<typeof createReadiness>;

class PingTimeoutError extends Error {
  override readonly name = 'PingTimeoutError';
}

type Pings<T extends Store | BlobStore> = Pick<T, 'ping' | 'pingWrite'>;

/**
 * Creates the readiness check. Concurrent calls share a ping, and results are cached as {@link cacheMs} says. So each store has at
 * most one ping at a time, and few pings while it fails.
 *
 * @param timeoutMs a store that doesn't respond within this time counts as failed
 */
export function createReadiness(
  { store, blobs }: { readonly store: Pings<Store>; readonly blobs: Pings<BlobStore> },
  timeoutMs: number = pingTimeoutMs,
) {
  const pingMetadata = createCachedPing('metadata store', () => store.ping(), timeoutMs);
  const pingBlobs = createCachedPing('blob store', (signal) => blobs.ping(signal), timeoutMs);
  const pingMetadataWrites = withCallerTimeout(
    'metadata store',
    createCachedPing('metadata store', () => store.pingWrite(), timeoutMs, { cachesSuccess: true }),
  );
  const pingBlobWrites = withCallerTimeout(
    'blob store',
    createCachedPing('blob store', (signal) => blobs.pingWrite(signal), timeoutMs, { cachesSuccess: true }),
  );
  return {
    /** Pings both stores for reading. */
    async checkStores() {
      const [metadata, blobResult] = await Promise.all([pingMetadata(), pingBlobs()]);
      return { metadata, blobs: blobResult };
    },
    /** Returns the stores that can't be read. */
    async failures() {
      return failuresOf(await Promise.all([pingMetadata(), pingBlobs()]));
    },
    /**
     * Returns the stores that can't be written.
     *
     * @param waitMs a store that doesn't respond within this time counts as failed
     */
    async writeFailures(waitMs = timeoutMs) {
      return failuresOf(await Promise.all([pingMetadataWrites(waitMs), pingBlobWrites(waitMs)]));
    },
  };
}

function failuresOf(results: readonly Pick<PingResult, 'failure'>[]): readonly StoreFailure[] {
  return results.map(({ failure }) => failure).filter((failure) => failure !== undefined);
}

function createCachedPing(
  name: StoreFailure['store'],
  ping: (signal: AbortSignal) => Promise<void>,
  timeoutMs: number,
  { cachesSuccess = false }: { readonly cachesSuccess?: boolean } = {},
): () => Promise<PingResult> {
  let running: Promise<PingResult> | undefined;
  let cached: { readonly result: PingResult; readonly at: number } | undefined;
  const runPing = async (): Promise<PingResult> => {
    const startedAt = performance.now();
    const finish = (failure?: StoreFailure): PingResult => {
      const at = performance.now();
      const result = { durationMs: at - startedAt, failure };
      cached = failure !== undefined || cachesSuccess ? { result, at } : undefined;
      return result;
    };
    try {
      await withTimeout(timeoutMs, ping);
      return finish();
    } catch (cause) {
      return finish({ store: name, reason: reasonOf(cause, timeoutMs), cause });
    } finally {
      running = undefined;
    }
  };
  return async () => {
    if (cached !== undefined && performance.now() - cached.at < cacheMs) return cached.result;
    running ??= runPing();
    return running;
  };
}

/** Adds a timeout for each call to a shared ping. Calls with the same timeout share a failure for {@link cacheMs}. */
function withCallerTimeout(
  store: StoreFailure['store'],
  ping: () => Promise<PingResult>,
): (waitMs: number) => Promise<Pick<PingResult, 'failure'>> {
  const timeouts = new Map<number, { readonly failure: StoreFailure; readonly at: number }>();
  const timeoutFailure = (waitMs: number): StoreFailure => {
    const at = performance.now();
    const last = timeouts.get(waitMs);
    if (last !== undefined && at - last.at < cacheMs) return last.failure;
    const cause = new PingTimeoutError(`No response within ${waitMs} ms`);
    const failure: StoreFailure = { store, reason: reasonOf(cause, waitMs), cause };
    timeouts.set(waitMs, { failure, at });
    return failure;
  };
  return async (waitMs) => {
    const { promise: timeout, resolve } = Promise.withResolvers<Pick<PingResult, 'failure'>>();
    const timer = setTimeout(() => resolve({ failure: timeoutFailure(waitMs) }), waitMs);
    try {
      return await Promise.race([ping(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** @throws PingTimeoutError */
async function withTimeout(timeoutMs: number, ping: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new PingTimeoutError(`No response within ${timeoutMs} ms`));
    controller.abort();
  }, timeoutMs);
  try {
    await Promise.race([ping(controller.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(cause: unknown, timeoutMs: number): string {
  if (cause instanceof PingTimeoutError) return `has not answered for ${timeoutMs / 1000} seconds`;
  if (cause instanceof StorageFullError) return 'has no room left';
  if (cause instanceof ReadOnlyError) return 'is on a read-only file system';
  if (cause instanceof UnavailableError) return "can't be reached, or is too busy";
  return "can't be used";
}
