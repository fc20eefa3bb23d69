import type { BlobKey } from '../db/blob-key.ts';

/** A stretch of a blob: both ends are offsets of bytes and included, as in an HTTP range. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** An object of a blob store. */
export interface BlobStat {
  /** In bytes. */
  readonly size: number;
  /** A text that is another one when the object has been put again. */
  readonly fingerprint: string;
}

/** The bytes of plugins, each under its content address and the generation in which they were stored. */
export interface BlobStore {
  /**
   * Stores the bytes for good before it resolves (a crash after that loses nothing), and does the same work whether or not it
   * has them already. The caller vouches that the key's address is theirs.
   *
   * @throws StorageFullError when there is no room
   */
  put(key: BlobKey, bytes: Uint8Array): Promise<void>;
  /** The size of a blob in bytes; `undefined` when it isn't there. */
  size(key: BlobKey): Promise<number | undefined>;
  /** As {@link size}, with what shows that a blob was put again. */
  stat(key: BlobKey): Promise<BlobStat | undefined>;
  /**
   * The whole blob, or a stretch within its size, as chunks, which are read no faster than they are taken; `undefined` when it isn't
   * there.
   *
   * @param signal aborts when nobody reads any more, so that what is being waited for is given up
   * @param scratch where chunks may be put, one after the other: each is good until the next is asked for. Without it each is good
   *   for ever
   */
  open(
    key: BlobKey,
    range?: ByteRange,
    signal?: AbortSignal,
    scratch?: Uint8Array,
  ): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Deletes a blob. Whoever reads it already reads it to its end. A crash soon after may bring it back. It may take effect after this
   * has failed, at any later time.
   *
   * @returns whether it was there
   */
  delete(key: BlobKey): Promise<boolean>;
  /** The keys of all blobs, in no particular order. Of what is put or deleted meanwhile each may be among them or not. */
  list(): AsyncIterable<BlobKey>;
  /** Deletes what is left of blobs that were begun to be put before a time, and never were whole. @returns how many */
  deleteUnfinished(beforeMs: number): Promise<number>;
  /**
   * Resolves when the store can be read, and rejects with the reason when it can't.
   *
   * @param signal aborts when nobody waits for it any more
   */
  ping(signal?: AbortSignal): Promise<void>;
  /** As {@link ping}, for writing: stores a byte. */
  pingWrite(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
