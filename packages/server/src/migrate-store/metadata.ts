import type { Db } from '../store/kysely/db.ts';

/** Metadata below the store, whose rule that nothing is changed while it is frozen does not hold here. */
export interface Metadata {
  /** What changes in one statement, or in a transaction of its own, survives a crash from then on. */
  readonly db: Db;
  /**
   * Runs the work on the data as it is at one moment. With `isFrozen`, that moment comes after every transaction that did not yet
   * see a freeze that is there.
   */
  snapshot<T>(isFrozen: boolean, work: (db: Db) => Promise<T>): Promise<T>;
  /** Changes what freezes there are: in a transaction of the kind that those of stores are, so that they see each other. */
  refreeze<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Has servers that have it open forget what they know of it, once the transaction is committed. */
  announce(db: Db): Promise<void>;
  close(): Promise<void>;
}
