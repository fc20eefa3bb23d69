import type { CacheTag } from '../cache/cache-tag.ts';
import type { Queries, Transaction } from '../queries.ts';
import type { StoreFault } from './blob-records.ts';

export type { Mutations, Queries, Transaction } from '../queries.ts';
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

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** That many bytes from a cryptographic source. */
export type RandomBytes = (length: number) => Uint8Array;
