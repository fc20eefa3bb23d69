import { type BlobStore, ReadOnlyError, StorageFullError, type Store, UnavailableError } from './ports.ts';

/** How long a store may take to say that it is there, in milliseconds: whoever asks wants to know now. */
const pingTimeoutMs = 2000;

/** For how long a store that took a change is believed to take the next, in milliseconds: anybody may ask. */
const writesBelievedMs = 1000;

/** A store that can't be used, and why, in words that say nothing of where it is. */
export interface StoreFailure {
  readonly store: 'metadata store' | 'blob store';
  /** Completes "the blob store …". */
  readonly reason: string;
  /** What is behind it; for the log alone. */
  readonly cause: unknown;
}

/** What came of asking a store. */
export interface StoreAnswer {
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** Set when it can't be used. */
  readonly failure: StoreFailure | undefined;
}

/** Tells whether the stores can be used. */
export interface Readiness {
  /** What came of asking each whether it can be read; never rejects, and takes no longer than a ping may. */
  answers(): Promise<{ readonly metadata: StoreAnswer; readonly blobs: StoreAnswer }>;
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
class SilentStoreError extends Error {
  override readonly name = 'SilentStoreError';
}

type Pings<T extends Store | BlobStore> = Pick<T, 'ping' | 'pingWrite'>;

/**
 * Asks both stores at once. Those who ask while a store is being asked share its answer, so that however many ask, each store
 * is asked once at a time.
 *
 * @param timeoutMs after how long a store counts as away
 */
export function createReadiness(
  { store, blobs }: { readonly store: Pings<Store>; readonly blobs: Pings<BlobStore> },
  timeoutMs: number = pingTimeoutMs,
): Readiness {
  const askMetadata = createAsking('metadata store', () => store.ping(), timeoutMs);
  const askBlobs = createAsking('blob store', (signal) => blobs.ping(signal), timeoutMs);
  const metadataWrites = believing(
    'metadata store',
    createAsking('metadata store', () => store.pingWrite(), timeoutMs),
  );
  const blobWrites = believing(
    'blob store',
    createAsking('blob store', (signal) => blobs.pingWrite(signal), timeoutMs),
  );
  return {
    async answers() {
      const [metadata, ofBlobs] = await Promise.all([askMetadata(), askBlobs()]);
      return { metadata, blobs: ofBlobs };
    },
    async failures() {
      const { metadata, blobs: ofBlobs } = await this.answers();
      return [metadata.failure, ofBlobs.failure].filter((failure) => failure !== undefined);
    },
    async writeFailures(waitMs = timeoutMs) {
      const answers = await Promise.all([metadataWrites(waitMs), blobWrites(waitMs)]);
      return answers.map(({ failure }) => failure).filter((failure) => failure !== undefined);
    },
  };
}

function createAsking(
  name: StoreFailure['store'],
  ping: (signal: AbortSignal) => Promise<void>,
  timeoutMs: number,
): () => Promise<StoreAnswer> {
  let asking: Promise<StoreAnswer> | undefined;
  const ask = async (): Promise<StoreAnswer> => {
    const startedAt = performance.now();
    const answer = (failure?: StoreFailure): StoreAnswer => ({ durationMs: performance.now() - startedAt, failure });
    try {
      await within(timeoutMs, ping);
      return answer();
    } catch (cause) {
      return answer({ store: name, reason: reasonOf(cause, timeoutMs), cause });
    } finally {
      asking = undefined;
    }
  };
  return () => {
    asking ??= ask();
    return asking;
  };
}

/** Asks at most once in {@link writesBelievedMs} while the answers are good. A failure is asked about each time. */
function believing(
  store: StoreFailure['store'],
  ask: () => Promise<StoreAnswer>,
): (waitMs: number) => Promise<Pick<StoreAnswer, 'failure'>> {
  let good: { readonly answer: StoreAnswer; readonly at: number } | undefined;
  const askAndRemember = async (): Promise<StoreAnswer> => {
    if (good !== undefined && performance.now() - good.at < writesBelievedMs) return good.answer;
    const answer = await ask();
    good = answer.failure === undefined ? { answer, at: performance.now() } : undefined;
    return answer;
  };
  return async (waitMs) => {
    const { promise: late, resolve } = Promise.withResolvers<Pick<StoreAnswer, 'failure'>>();
    const timer = setTimeout(() => {
      const cause = new SilentStoreError(`No answer came within ${waitMs} ms`);
      resolve({ failure: { store, reason: reasonOf(cause, waitMs), cause } });
    }, waitMs);
    try {
      return await Promise.race([askAndRemember(), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** @throws SilentStoreError */
async function within(timeoutMs: number, ping: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new SilentStoreError(`No answer came within ${timeoutMs} ms`));
    controller.abort();
  }, timeoutMs);
  try {
    await Promise.race([ping(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(cause: unknown, timeoutMs: number): string {
  if (cause instanceof SilentStoreError) return `has not answered for ${timeoutMs / 1000} seconds`;
  if (cause instanceof StorageFullError) return 'has no room left';
  if (cause instanceof ReadOnlyError) return 'is on a read-only file system';
  if (cause instanceof UnavailableError) return "can't be reached, or is too busy";
  return "can't be used";
}
