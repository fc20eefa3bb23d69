import type { BlobKey } from '../db/blob-key.ts';

/** A range of bytes. Both offsets are inclusive, as in an HTTP range. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** An object of a blob store. */
export interface BlobStat {
  /** In bytes. */
  readonly size: number;
  /** Changes when the object is stored again. */
  readonly fingerprint: string;
}

/** Stores the bytes of plugins, by content address and generation. */
export interface BlobStore {
  /**
   * Stores the bytes durably. It does the same work whether or not they are already stored. The caller ensures that the key's address is
   * that of the bytes.
   *
   * @throws StorageFullError
   */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** Returns the size of a blob in bytes; `undefined` if it doesn't exist. */
  size(key: BlobKey): Promise<number | undefined>;
  stat(key: BlobKey): Promise<BlobStat | undefined>;
  /**
   * Reads a blob, or a range of it, as chunks, with backpressure.
   *
   * @param signal aborts when the consumer stops
   * @param scratch a buffer to reuse for all chunks; without it, each chunk has a new buffer
   * @returns `undefined` if the blob doesn't exist
   */
  open(
    key: BlobKey,
    range?: ByteRange,
    signal?: AbortSignal,
    scratch?: Uint8Array,
  ): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Deletes a blob. Running reads continue to its end. The blob may reappear after a crash. A delete that failed may still take effect,
   * at any later time.
   *
   * @returns whether the blob existed
   */
  delete(key: BlobKey): Promise<boolean>;
  /** Lists the keys of all blobs, unordered. Blobs that are stored or deleted during the listing may be missing. */
  list(): AsyncIterable<BlobKey>;
  /** Deletes incomplete uploads that began before a time. @returns their number */
  deleteUnfinished(beforeMs: number): Promise<number>;
  /** Rejects if the store can't be read. */
  ping(signal?: AbortSignal): Promise<void>;
  /** Rejects if the store can't be written. Stores a byte. */
  pingWrite(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
