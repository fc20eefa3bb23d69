import type { ContentAddress } from '@tenon/protocol';
import { UnavailableError } from '../db/store.ts';
import type { ByteRange } from './blob-store.ts';
import type { StoredContent, StoredContents } from './stored-contents.ts';

export type ContentCache = ReturnType<typeof createContentCache>;

/** Larger contents are sent in chunks, because a response to a slow client stays in memory even after the cache evicts the content. */
const maxWholeBytes = 1024 * 1024;

const chunkBytes = 256 * 1024;

/**
 * Creates an LRU cache of contents by address, with at most `maxBytes` in total. It doesn't cache contents above an eighth of that, so
 * that a few large ones can't evict all others. It needs no invalidation, because it caches only bytes whose digest was verified.
 */
export function createContentCache(contents: StoredContents, maxBytes: number) {
  const maxEntryBytes = Math.floor(maxBytes / 8);
  const entries = new Map<ContentAddress, Uint8Array>(); // the most recently used is last
  const loading = new Map<ContentAddress, Promise<Uint8Array | undefined>>();
  let bytes = 0;
  let loadingBytes = 0;
  let hits = 0;
  let misses = 0;

  const add = (address: ContentAddress, content: Uint8Array): void => {
    entries.set(address, content);
    bytes += content.length;
    for (const [oldest, old] of entries) {
      if (bytes <= maxBytes) break;
      entries.delete(oldest);
      bytes -= old.length;
    }
  };
  const load = async (address: ContentAddress): Promise<Uint8Array | undefined> => {
    const found = await contents.find(address);
    if (found === undefined || found.size > maxEntryBytes) return undefined;
    if (loadingBytes + found.size > maxBytes) return undefined; // limits the memory of concurrent loads
    loadingBytes += found.size;
    try {
      const content = await found.read();
      add(address, content);
      return content;
    } finally {
      loadingBytes -= found.size;
    }
  };
  /** Yields copies, so that a reader doesn't keep an evicted content in memory. The rest of that comes from the blob store. */
  async function* readCached(
    address: ContentAddress,
    { first, last }: ByteRange,
    signal: AbortSignal | undefined,
    scratch: Uint8Array | undefined,
  ) {
    const largest = scratch?.length ?? chunkBytes;
    for (let at = first; at <= last; at += largest) {
      const content = entries.get(address);
      if (content === undefined) {
        const rest = await openStored(address, { first: at, last }, signal, scratch);
        if (rest === undefined) throw new UnavailableError(`The content ${address} was deleted while it was read`);
        return yield* rest;
      }
      const chunk = content.subarray(at, Math.min(at + largest, last + 1));
      scratch?.set(chunk);
      yield scratch?.subarray(0, chunk.length) ?? Buffer.from(chunk);
    }
  }
  const openStored = async (address: ContentAddress, ...args: Parameters<StoredContent['open']>) =>
    (await contents.find(address))?.open(...args);
  /** Concurrent callers share a load. */
  const loadOnce = (address: ContentAddress): Promise<Uint8Array | undefined> => {
    const shared = loading.get(address);
    if (shared !== undefined) return shared;
    const loaded = load(address).finally(() => loading.delete(address));
    loading.set(address, loaded);
    return loaded;
  };
  const ifSmall = (content: Uint8Array | undefined): Uint8Array | undefined =>
    content === undefined || content.length > maxWholeBytes ? undefined : content;
  const cached = (address: ContentAddress): Uint8Array | undefined => {
    const content = entries.get(address);
    if (content === undefined) return undefined;
    hits++;
    entries.delete(address);
    entries.set(address, content);
    return ifSmall(content);
  };
  return {
    /** Returns the content if it is cached, and not larger than {@link maxWholeBytes}. */
    cached,
    /**
     * Loads a content into the cache. Returns it, or `undefined` if it is too large or doesn't exist.
     *
     * @throws DamagedContentError
     */
    small(address: ContentAddress): Promise<Uint8Array | undefined> | Uint8Array | undefined {
      if (entries.has(address)) return cached(address);
      misses++;
      return loadOnce(address).then(ifSmall);
    },
    /**
     * @returns the size in bytes; `undefined` if the content doesn't exist
     * @throws DamagedContentError
     */
    size: async (address: ContentAddress): Promise<number | undefined> =>
      entries.get(address)?.length ?? (await contents.find(address))?.size,
    /**
     * Like {@link StoredContent.open}.
     *
     * @returns `undefined` if the content doesn't exist
     * @throws DamagedContentError
     */
    async open(
      address: ContentAddress,
      range?: ByteRange,
      signal?: AbortSignal,
      scratch?: Uint8Array,
    ): Promise<AsyncIterable<Uint8Array> | undefined> {
      const content = entries.get(address);
      if (content === undefined) return openStored(address, range, signal, scratch);
      return readCached(address, range ?? { first: 0, last: content.length - 1 }, signal, scratch);
    },
    /** The hits and misses of `cached` and `small`, and the size of the cache. */
    get usage(): { readonly hits: number; readonly misses: number; readonly bytes: number } {
      return { hits, misses, bytes };
    },
  };
}
