import { type BlobStore, ReadOnlyError, StorageFullError, type Store, UnavailableError } from './ports.ts';

/** How long a store may take to say that it is there, in milliseconds: whoever asks wants to know now. */
const pingTimeoutMs = 2000;

/** For how long a failure is believed, and that a store takes changes, in milliseconds: anybody may ask. */
const cacheMs = 1000;

/** A store that can't be used, and why, in words that say nothing of where it is. The same object for as long as it is believed. */
export interface StoreFailure {
  readonly store: 'metadata store' | 'blob store';
  /** Completes "the blob store …". */
  readonly reason: string;
  /** What is behind it; for the log alone. */
  readonly cause: unknown;
}

/** What came of asking a store. */
export interface PingResult {
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** Set when it can't be used. */
  readonly failure: StoreFailure | undefined;
}

/** Tells whether the stores can be used. */
export interface Readiness {
  /** What came of asking each whether it can be read; never rejects, and takes no longer than a ping may. */
  checkStores(): Promise<{ readonly metadata: PingResult; readonly blobs: PingResult }>;
  /** The stores that can't be read; never rejects, and takes no longer than a ping may. */
  failures(): Promise<readonly StoreFailure[]>;
  /**
   * The stores that take no changes. Never rejects.
   *
   * @param waitMs after how long a store that has not answered is one of them. Default: as long as a ping may take
   */
  writeFailures(waitMs?: number): Promise<readonly StoreFailure[]>;
}

/** Thrown when a store said nothing for as long as it may. */
class PingTimeoutError extends Error {
  override readonly name = 'SilentStoreError';
}

type Pings<T extends Store | BlobStore> = Pick<T, 'ping' | 'pingWrite'>;

/**
 * Asks both stores at once. Those who ask while a store is being asked share its answer, and a failure is believed for
 * {@link cacheMs}, so that however many ask, each store is asked once at a time, and seldom while it fails.
 *
 * @param timeoutMs after how long a store counts as away
 */
export function createReadiness(
  { store, blobs }: { readonly store: Pings<Store>; readonly blobs: Pings<BlobStore> },
  timeoutMs: number = pingTimeoutMs,
): Readiness {
  const askMetadata = createCachedPing('metadata store', () => store.ping(), timeoutMs);
  const askBlobs = createCachedPing('blob store', (signal) => blobs.ping(signal), timeoutMs);
  const metadataWrites = withCallerTimeout(
    'metadata store',
    createCachedPing('metadata store', () => store.pingWrite(), timeoutMs, { believesSuccess: true }),
  );
  const blobWrites = withCallerTimeout(
    'blob store',
    createCachedPing('blob store', (signal) => blobs.pingWrite(signal), timeoutMs, { believesSuccess: true }),
  );
  return {
    async checkStores() {
      const [metadata, ofBlobs] = await Promise.all([askMetadata(), askBlobs()]);
      return { metadata, blobs: ofBlobs };
    },
    async failures() {
      const { metadata, blobs: ofBlobs } = await this.checkStores();
      return [metadata.failure, ofBlobs.failure].filter((failure) => failure !== undefined);
    },
    async writeFailures(waitMs = timeoutMs) {
      const answers = await Promise.all([metadataWrites(waitMs), blobWrites(waitMs)]);
      return answers.map(({ failure }) => failure).filter((failure) => failure !== undefined);
    },
  };
}

function createCachedPing(
  name: StoreFailure['store'],
  ping: (signal: AbortSignal) => Promise<void>,
  timeoutMs: number,
  { believesSuccess = false }: { readonly believesSuccess?: boolean } = {},
): () => Promise<PingResult> {
  let asking: Promise<PingResult> | undefined;
  let believed: { readonly answer: PingResult; readonly at: number } | undefined;
  const ask = async (): Promise<PingResult> => {
    const startedAt = performance.now();
    const answer = (failure?: StoreFailure): PingResult => {
      const at = performance.now();
      const given = { durationMs: at - startedAt, failure };
      believed = failure !== undefined || believesSuccess ? { answer: given, at } : undefined;
      return given;
    };
    try {
      await withTimeout(timeoutMs, ping);
      return answer();
    } catch (cause) {
      return answer({ store: name, reason: reasonOf(cause, timeoutMs), cause });
    } finally {
      asking = undefined;
    }
  };
  return async () => {
    if (believed !== undefined && performance.now() - believed.at < cacheMs) return believed.answer;
    asking ??= ask();
    return asking;
  };
}

/** Has each caller wait for an answer as long as it says. Those who give up within {@link cacheMs} share a failure. */
function withCallerTimeout(
  store: StoreFailure['store'],
  ask: () => Promise<PingResult>,
): (waitMs: number) => Promise<Pick<PingResult, 'failure'>> {
  const given = new Map<number, { readonly failure: StoreFailure; readonly at: number }>();
  const failureAfter = (waitMs: number): StoreFailure => {
    const at = performance.now();
    const last = given.get(waitMs);
    if (last !== undefined && at - last.at < cacheMs) return last.failure;
    const cause = new PingTimeoutError(`No answer came within ${waitMs} ms`);
    const failure: StoreFailure = { store, reason: reasonOf(cause, waitMs), cause };
    given.set(waitMs, { failure, at });
    return failure;
  };
  return async (waitMs) => {
    const { promise: late, resolve } = Promise.withResolvers<Pick<PingResult, 'failure'>>();
    const timer = setTimeout(() => resolve({ failure: failureAfter(waitMs) }), waitMs);
    try {
      return await Promise.race([ask(), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** @throws SilentStoreError */
async function withTimeout(timeoutMs: number, ping: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new PingTimeoutError(`No answer came within ${timeoutMs} ms`));
    controller.abort();
  }, timeoutMs);
  try {
    await Promise.race([ping(controller.signal), late]);
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
