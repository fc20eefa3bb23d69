import type { CacheTag } from './cache-tag.ts';
import { type CacheVersion, createInvalidationLog } from './invalidation-log.ts';

/** Estimated memory for an entry, without its key and the size of its value. */
const entryBytes = 400;

/** Describes the entries of one use case. */
export interface CacheSpec<V> {
  readonly name: string;
  /** What a value depends on. */
  tags(value: V, key: string): readonly CacheTag[];
  /** The size of a value in bytes, for values that may be large. */
  sizeOf?(value: V): number;
}

export type Cache = ReturnType<typeof createCache>;

export interface CacheUsage {
  readonly hit: number;
  readonly miss: number;
  /** Lookups that found an invalidated entry. */
  readonly stale: number;
}

/** The part of a store that tells what has changed. */
interface CachedStore {
  revision(): number;
  onCommitted(listener: (invalidated: readonly CacheTag[] | undefined) => void): void;
}

/**
 * Caches values until a commit of any process invalidates one of their tags. The store notifies the cache of a commit before its revision
 * changes. An entry has the cache version before its value was read. When a later commit has invalidated one of its tags, the entry is not
 * used.
 *
 * The cost of a commit does not depend on the number of entries: the commit's tags are added to a log, and an entry is compared with the
 * log at its next lookup. An entry is evicted when half of `maxBytes` was added since its last lookup.
 *
 * @param maxBytes approximate maximum size of all entries; default: for tests only
 */
export function createCache(store: CachedStore, maxBytes = 16 * 1024 * 1024) {
  const partitions = new Map<unknown, Partition<unknown>>();
  const log = createInvalidationLog();
  const usage = { hit: 0, miss: 0, stale: 0 };
  let youngBytes = 0;
  let current = log.version;
  store.onCommitted((invalidated) => {
    log.add(invalidated);
    current = log.version;
  });
  const shared: Shared = {
    usage,
    isValid: log.isValid,
    version() {
      store.revision(); // calls the listeners for commits that they don't know yet
      return current;
    },
    grow(bytes) {
      youngBytes += bytes;
      if (youngBytes <= maxBytes / 2) return;
      for (const partition of partitions.values()) partition.age();
      youngBytes = 0;
    },
  };
  return {
    /** The number of lookups by their result. */
    usage: usage as CacheUsage,
    /** Call before reading; pass the result to `set()`. */
    version: shared.version,
    /** The partition of a spec: the same each time. */
    of<V>(spec: CacheSpec<V>): Omit<Partition<V>, 'age'> {
      let partition = partitions.get(spec) as Partition<V> | undefined;
      if (partition === undefined) {
        partition = new Partition(spec, shared);
        partitions.set(spec, partition as Partition<unknown>);
      }
      return partition;
    },
  };
}

/** What all partitions share. */
interface Shared {
  readonly usage: { hit: number; miss: number; stale: number };
  version(): CacheVersion;
  isValid(tags: readonly CacheTag[], since: CacheVersion): boolean;
  /** Call with the change of the entries' size in bytes. */
  grow(bytes: number): void;
}

interface Entry<V> {
  readonly value: V;
  readonly tags: readonly CacheTag[];
  readonly bytes: number;
  /** The last version at which the entry is known to be valid. */
  validAt: CacheVersion;
}

/** The entries of one use case, each valid until a commit invalidates one of its tags. */
class Partition<V> {
  readonly #spec: CacheSpec<V>;
  readonly #shared: Shared;
  readonly #loads = new Map<string, { readonly since: CacheVersion; readonly value: Promise<V | undefined> }>();
  /** Entries that were set or looked up since the last `age()`. */
  #young = new Map<string, Entry<V>>();
  /** Entries that were set or looked up before that; the next `age()` evicts them. */
  #old = new Map<string, Entry<V>>();

  constructor(spec: CacheSpec<V>, shared: Shared) {
    this.#spec = spec;
    this.#shared = shared;
  }

  /** The cached value, if it is still valid. */
  get(key: string): V | undefined {
    const { usage, version, isValid } = this.#shared;
    const current = version();
    const entry = this.#young.get(key) ?? this.#rejuvenate(key);
    if (entry === undefined) {
      usage.miss++;
      return undefined;
    }
    if (entry.validAt !== current) {
      if (!isValid(entry.tags, entry.validAt)) {
        usage.stale++;
        this.#delete(key);
        return undefined;
      }
      entry.validAt = current;
    }
    usage.hit++;
    return entry.value;
  }

  /** The cached value, or else a loaded one, which is cached unless it is `undefined`. Concurrent callers share a load. */
  async getOrLoad<L extends V | undefined>(key: string, load: () => Promise<L>): Promise<V | L> {
    const cached = this.get(key);
    if (cached !== undefined) return cached;
    const since = this.#shared.version();
    const started = this.#loads.get(key);
    // A load that started before the last commit may not see it, and the caller may have made that commit.
    if (started?.since === since) return started.value as Promise<V | L>; // a key has one kind of load
    const loading = { since, value: load() };
    this.#loads.set(key, loading);
    try {
      const value = await loading.value;
      if (value !== undefined) this.set(key, value, since);
      return value;
    } finally {
      if (this.#loads.get(key) === loading) this.#loads.delete(key);
    }
  }

  /** Caches a value. All that it depends on must have been read after `since`. */
  set(key: string, value: V, since: CacheVersion): void {
    const validAt = this.#shared.version();
    const tags = this.#spec.tags(value, key);
    if (!this.#shared.isValid(tags, since)) return;
    this.#delete(key);
    const bytes = entryBytes + key.length + (this.#spec.sizeOf?.(value) ?? 0);
    this.#add(key, { value, tags, bytes, validAt });
  }

  /** Evicts the old entries; the young ones become old. */
  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }

  #add(key: string, entry: Entry<V>): void {
    this.#young.set(key, entry);
    this.#shared.grow(entry.bytes);
  }

  #delete(key: string): void {
    const entry = this.#young.get(key);
    if (entry === undefined) return;
    this.#young.delete(key);
    this.#shared.grow(-entry.bytes);
  }

  #rejuvenate(key: string): Entry<V> | undefined {
    const entry = this.#old.get(key);
    if (entry === undefined) return undefined;
    this.#old.delete(key);
    this.#add(key, entry);
    return entry;
  }
}
