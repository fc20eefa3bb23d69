import type { ContentAddress } from '@tenon/protocol';
import type { BlobStore, ByteRange } from '../domain/ports.ts';

/** Content by address: small ones from memory, the rest as it comes from the blob store. */
export interface ContentCache {
  /** The whole content as bytes when it is small enough to be kept; else `undefined`, and it is there to be opened. */
  small(address: ContentAddress): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** The size in bytes; `undefined` when the blob store has no such content. */
  size(address: ContentAddress): Promise<number | undefined>;
  open(address: ContentAddress, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** How often `small` found what it was asked for in memory and how often not, and how many bytes are there. */
  readonly usage: { readonly hits: number; readonly misses: number; readonly bytes: number };
}

/**
 * Keeps the contents that were read last, of `maxBytes` together; one of more than an eighth of that is never kept, so that
 * a few large ones don't push all others out. What lies under an address never changes, so nothing has to be taken back.
 */
export function createContentCache(blobs: BlobStore, maxBytes: number): ContentCache {
  const maxEntryBytes = Math.floor(maxBytes / 8);
  const entries = new Map<ContentAddress, Uint8Array>(); // the one read last stands last
  const loading = new Map<ContentAddress, Promise<Uint8Array | undefined>>();
  let bytes = 0;
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
    const size = await blobs.size(address);
    if (size === undefined || size > maxEntryBytes) return undefined;
    const chunks = await blobs.open(address);
    if (chunks === undefined) return undefined;
    const content = Buffer.allocUnsafeSlow(size);
    let at = 0;
    for await (const chunk of chunks) {
      content.set(chunk, at);
      at += chunk.length;
    }
    if (at !== size) throw new Error(`The blob store announced ${size} bytes and gave ${at}`);
    keep(address, content);
    return content;
  };
  /** Many who ask for the same at once share one reading of it. */
  const loadOnce = (address: ContentAddress): Promise<Uint8Array | undefined> => {
    const begun = loading.get(address);
    if (begun !== undefined) return begun;
    const loaded = load(address).finally(() => loading.delete(address));
    loading.set(address, loaded);
    return loaded;
  };
  return {
    small(address) {
      const known = entries.get(address);
      if (known === undefined) {
        misses++;
        return loadOnce(address);
      }
      hits++;
      entries.delete(address);
      entries.set(address, known);
      return known;
    },
    size: async (address) => entries.get(address)?.length ?? (await blobs.size(address)),
    open: (address, range) => blobs.open(address, range),
    get usage() {
      return { hits, misses, bytes };
    },
  };
}
