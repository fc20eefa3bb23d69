import type { ContentAddress } from '@tenon/protocol';
import { UnavailableError } from '../db/store.ts';
import type { ByteRange } from './blob-store.ts';
import type { StoredContent, StoredContents } from './stored-contents.ts';

/** Content by address: small ones from memory, the rest as it comes from the blob store. */
export type ContentCache = ReturnType<typeof createContentCache>;

/** A content with more bytes is sent in chunks: what is under way to a slow client stays in memory, whatever the cache keeps. */
const maxWholeBytes = 1024 * 1024;

const chunkBytes = 256 * 1024;

/**
 * Keeps the contents that were read last, of `maxBytes` together; one of more than an eighth of that is never kept, so that
 * a few large ones don't push all others out. Only bytes that have the digest of their address get in, so nothing has to be taken back:
 * what is damaged is read again each time, and served once it is repaired.
 */
export function createContentCache(contents: StoredContents, maxBytes: number) {
  const maxEntryBytes = Math.floor(maxBytes / 8);
  const entries = new Map<ContentAddress, Uint8Array>(); // the one read last stands last
  const loading = new Map<ContentAddress, Promise<Uint8Array | undefined>>();
  let bytes = 0;
  let loadingBytes = 0;
  let hits = 0;
  let misses = 0;

  const keep = (address: ContentAddress, content: Uint8Array): void => {
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
    if (loadingBytes + found.size > maxBytes) return undefined; // so many are on their way that this one is not waited for
    loadingBytes += found.size;
    try {
      const content = await found.read();
      keep(address, content);
      return content;
    } finally {
      loadingBytes -= found.size;
    }
  };
  /** Copies, so that a content that is forgotten meanwhile is kept by nobody; the blob store has the rest of it then. */
  async function* readKept(
    address: ContentAddress,
    { first, last }: ByteRange,
    signal: AbortSignal | undefined,
    scratch: Uint8Array | undefined,
  ) {
    const largest = scratch?.length ?? chunkBytes;
    for (let at = first; at <= last; at += largest) {
      const content = entries.get(address);
      if (content === undefined) {
        yield* (await openStored(address, { first: at, last }, signal, scratch)) ?? gone(address);
        return;
      }
      const chunk = content.subarray(at, Math.min(at + largest, last + 1));
      scratch?.set(chunk);
      yield scratch?.subarray(0, chunk.length) ?? Buffer.from(chunk);
    }
  }
  const openStored = async (address: ContentAddress, ...question: Parameters<StoredContent['open']>) =>
    (await contents.find(address))?.open(...question);
  /** Many who ask for the same at once share one reading of it. */
  const loadOnce = (address: ContentAddress): Promise<Uint8Array | undefined> => {
    const begun = loading.get(address);
    if (begun !== undefined) return begun;
    const loaded = load(address).finally(() => loading.delete(address));
    loading.set(address, loaded);
    return loaded;
  };
  const whole = (content: Uint8Array | undefined): Uint8Array | undefined =>
    content === undefined || content.length > maxWholeBytes ? undefined : content;
  const cached = (address: ContentAddress): Uint8Array | undefined => {
    const known = entries.get(address);
    if (known === undefined) return undefined;
    hits++;
    entries.delete(address);
    entries.set(address, known);
    return whole(known);
  };
  return {
    /** The whole content, if it is in memory and small enough to be sent in one go. */
    cached,
    /**
     * The whole content as bytes when it is small enough to be sent in one go; else `undefined`, and it is there to be opened, perhaps
     * in memory by now.
     *
     * @throws DamagedContentError
     */
    small(address: ContentAddress): Promise<Uint8Array | undefined> | Uint8Array | undefined {
      if (entries.has(address)) return cached(address);
      misses++;
      return loadOnce(address).then(whole);
    },
    /**
     * The size in bytes; `undefined` when there is no such content.
     *
     * @throws DamagedContentError
     */
    size: async (address: ContentAddress): Promise<number | undefined> =>
      entries.get(address)?.length ?? (await contents.find(address))?.size,
    /**
     * As {@link StoredContent.open}; `undefined` when there is no such content.
     *
     * @throws DamagedContentError
     */
    async open(
      address: ContentAddress,
      range?: ByteRange,
      signal?: AbortSignal,
      scratch?: Uint8Array,
    ): Promise<AsyncIterable<Uint8Array> | undefined> {
      const known = entries.get(address);
      if (known === undefined) return openStored(address, range, signal, scratch);
      return readKept(address, range ?? { first: 0, last: known.length - 1 }, signal, scratch);
    },
    /** How often `small` found what it was asked for in memory and how often not, and how many bytes are there. */
    get usage(): { readonly hits: number; readonly misses: number; readonly bytes: number } {
      return { hits, misses, bytes };
    },
  };
}

function gone(address: ContentAddress): never {
  throw new UnavailableError(`The content ${address} was deleted while it was read`);
}
