import type { CacheTag } from '../cache/cache-tag.ts';
import type { Queries, Transaction } from '../queries.ts';
import type { StoreFault } from './blob-records.ts';

export type { Mutations, Queries, Transaction } from '../queries.ts';
export type * from './query-types.ts';
export * from './store-errors.ts';

/** The queries and mutations that are safe at the isolation level "read committed". */
type LockingTransaction = Pick<
  Transaction,
  | 'leaseHolders'
  | 'markUnused'
  | 'markForDeletion'
  | 'deleteBlobDeletions'
  | 'addUsage'
  | 'addCallReports'
  | 'lockAuditHead'
  | 'takeUnsealedAuditEvents'
  | 'insertAuditLinks'
  | 'putAuditPosition'
>;

/** Called for each commit. `undefined` invalidates everything. */
export type CommitListener = (invalidated: readonly CacheTag[] | undefined) => void;

/** The metadata store: everything except the bytes of plugins. */
export interface Store {
  readonly read: Queries;
  /**
   * Runs queries that all see the same snapshot: everything that was committed before the first of them began. Few run at once, the others
   * wait.
   *
   * @throws UnavailableError, and the errors of the work
   */
  readSnapshot<T>(work: (read: Queries) => Promise<T>): Promise<T>;
  /**
   * Runs the work in a transaction that is serializable among all processes. Committed changes survive a crash. The work may
   * run more than once. Therefore it must have no side effects outside the transaction, and must not begin another one.
   *
   * @throws ConflictError, StorageFullError, UnavailableError, and the errors of the work
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs work that locks the rows on which its result depends. It waits for other transactions' locks on them, and has no serialization
   * failures, so that it makes progress on a busy store.
   *
   * @throws StorageFullError, UnavailableError, and the errors of the work
   */
  writeLocking<T>(work: (tx: LockingTransaction) => Promise<T>): Promise<T>;
  /**
   * Returns a number that changes with every commit. It changes immediately for this store's commits, by the next turn of the event loop
   * for other processes on the same file, and within a second for other nodes. A cached value stays valid while
   * the number is the one that was returned before the value was read.
   */
  revision(): number;
  /** Adds a listener for all commits, including this store's own. It is called before `revision` changes. */
  onCommitted(listener: CommitListener): void;
  /** Whether the commits of other processes are received. Otherwise `revision` returns a new number with each call. */
  isRevisionTrusted(): boolean;
  /** Reads all data and returns its faults. Concurrent changes cause no false faults. */
  check(): Promise<StoreFault[]>;
  /** Rejects if the store can't be read. */
  ping(): Promise<void>;
  /** Rejects if the store can't be written. The embedded store tests it with a commit. */
  pingWrite(): Promise<void>;
  close(): Promise<void>;
}

/** How many snapshots of a store are read at once. Each needs a connection. */
export const maxSnapshots = 2;

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/** Returns cryptographically random bytes. */
export type RandomBytes = (length: number) => Uint8Array;
