/** The disk, or the object store, is full. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}

/** A transaction was rolled back because it violates a unique constraint. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/** A store is unreachable or too busy. A retry may succeed. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** The store's file system is read-only. */
export class ReadOnlyError extends UnavailableError {}

/** A store responds but can't be used, such as with wrong credentials or a missing database. Retries don't help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Rolls back the transaction of a dry run, and carries the result. */
export class DryRunComplete<T = unknown> extends Error {
  override readonly name = 'DryRunComplete';
  readonly result: T;

  constructor(result: T) {
    super('The transaction was a dry run');
    this.result = result;
  }
}

/** The bytes of a blob don't match its address. A retry succeeds if they were damaged in transit; `verify` finds damaged objects. */
export class WrongBytesError extends UnavailableError {}
