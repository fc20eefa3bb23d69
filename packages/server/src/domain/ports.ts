import type { Mismatch } from '@tenon/extension-schema/interface-check';
import type { CacheTag } from '../cache/cache-tag.ts';
import type { Queries, Transaction } from '../store/kysely/queries.ts';
import type { BlobKey } from './housekeeping/blob-key.ts';
import type { StoreFault } from './housekeeping/ports.ts';
import type { ExtensionPointRecord } from './records.ts';

/** The interfaces between the domain and the world. Every implementation of one passes its contract suite in `test/contracts`. */

export type { Mutations, Queries, Transaction } from '../store/kysely/queries.ts';
export type * from './query-types.ts';
export * from './store-errors.ts';

/** What is safe at the isolation level "read committed". */
type LockingTransaction = Pick<Transaction, 'leaseHolders' | 'markUnused' | 'markForDeletion' | 'deleteBlobDeletions'>;

/** Is told of a commit. */
export type CommitListener = (invalidated: readonly CacheTag[] | undefined) => void;

/** Metadata: everything but the bytes of plugins. */
export interface Store {
  readonly read: Queries;
  /**
   * Runs the work in one transaction, serialised with every other on the same data, whichever process makes it. All of it is
   * there afterwards (and survives a crash), or, when the work throws, none of it. The work may be run more than once, so it
   * does nothing but ask and change through the transaction, and never begins another one.
   *
   * @throws ConflictError, StorageFullError, UnavailableError, and whatever the work throws
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs work that locks the rows it decides on. It waits for transactions that hold them, and never fails because others changed
   * something else: it makes progress however busy the store is.
   *
   * @throws StorageFullError, UnavailableError, and whatever the work throws
   */
  writeLocking<T>(work: (tx: LockingTransaction) => Promise<T>): Promise<T>;
  /**
   * A number that is another one whenever anything may have been committed since: at once by this store; by another process of
   * this machine on the embedded store from the next turn of the event loop on; by another node within a second. What was read
   * after asking for it may be kept and used as long as it stays the same.
   */
  revision(): number;
  /**
   * Calls the listener for each commit, including this store's own, with the cache tags that it invalidates, or with `undefined` to
   * invalidate everything. It is called before `revision` changes.
   */
  onCommitted(listener: CommitListener): void;
  /** Whether commits of others are known now; while they aren't, `revision` is another number each time. */
  isRevisionTrusted(): boolean;
  /** Looks for what can't be in the data, reading all of it. Other work may go on meanwhile, and raises no false alarm. */
  check(): Promise<StoreFault[]>;
  /** Resolves when the store can be read, and rejects with the reason when it can't. */
  ping(): Promise<void>;
  /** Resolves when the store takes a change (the embedded store makes one), and rejects with the reason when it doesn't. */
  pingWrite(): Promise<void>;
  close(): Promise<void>;
}

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

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** That many bytes from a cryptographic source. */
export type RandomBytes = (length: number) => Uint8Array;

/** What an extension point demands of a module. */
export type ModuleRequirements = Pick<ExtensionPointRecord, 'schemaJson' | 'limits'>;

/** What is known of a module that was checked. */
export interface CheckedModule {
  /** Its `ModuleInterface` as JSON; `null` when that is too large to be kept. */
  readonly interfaceJson: string | null;
  /** How it does not fit what was demanded; nothing where nothing was. */
  readonly mismatches: readonly Mismatch[];
}

/** Options of a job that waits in a fair queue. */
export interface JobOptions {
  /** The queue takes turns between keys: the id of the account. */
  readonly fairnessKey?: string | undefined;
  /** Aborts when the client no longer waits for the result. */
  readonly signal?: AbortSignal | undefined;
}

/** Looks at modules, their interfaces and schemas, which may be large or odd, off the main thread. */
export interface ModuleChecker {
  /**
   * Tells whether bytes are a valid core module, and whether it fits what is demanded.
   *
   * @throws DomainError with the code and, where known, the byte offset for bytes that are no valid core module
   */
  check(bytes: Uint8Array, demands?: ModuleRequirements, asker?: JobOptions): Promise<CheckedModule>;
  /** Tells of each of some interfaces, as {@link CheckedModule} has them, how it does not fit. */
  compare(
    interfaces: readonly string[],
    demands: ModuleRequirements,
    asker?: JobOptions,
  ): Promise<readonly (readonly Mismatch[])[]>;
  /**
   * Reads an extension point's schema: an object, or its YAML or JSON text.
   *
   * @returns the schema as it is kept
   * @throws DomainError `invalid_field` with every fault that was found, each with its place
   */
  readSchema(schema: unknown, asker?: JobOptions): Promise<string>;
}

/** Hashes passwords, off the main thread and a few at a time. */
export interface PasswordHasher {
  /** The password's hash in PHC string form, with a salt of its own. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one of the hash. Takes as long when there is none, so that the time tells nothing.
   *
   * @throws UnavailableError when too many wait already
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Whether a hash was made with a lower cost than new ones are. */
  isOutdated(hash: string): boolean;
}

/** Knows the passwords that people use most, and many that were leaked. */
export interface CommonPasswords {
  /** @param text in lower case */
  has(text: string): Promise<boolean>;
}

/** Lets each key do so much in the long run, and more at once if it did less before. */
export interface RateLimiter {
  /** Counts one. @returns 0, or when it is one too many, in how many seconds to try again. */
  take(key: string): number;
  /** Takes one back that was counted. */
  give(key: string): void;
}
