export type MigrateStoreErrorCode =
  /** There is no store where the data is to come from. */
  | 'no_source'
  /** The source's schema is of an older release. */
  | 'older_source'
  /** Both are the same. */
  | 'same_store'
  /** The target holds something. */
  | 'not_empty'
  /** The source's data was moved to another store before. */
  | 'moved'
  /** What was asked of a store can't be, since data is being moved into it and is not whole. */
  | 'arriving'
  /** Another hand thawed the source, or began to move it too. */
  | 'interfered'
  /** Bytes that a version names are missing in the source, or are others. */
  | 'damaged_data'
  /** The target cannot keep a text that the source has. */
  | 'not_storable'
  /** What arrived is not what was sent. */
  | 'differs'
  /** It failed, and so did thawing the source. The cause says why. */
  | 'left_frozen'
  /** All has arrived and the source was handed over, but the target was not opened. The cause says why. */
  | 'not_opened';

/** Why no data was moved. The target takes no changes then. */
export class MigrateStoreError extends Error {
  override readonly name = 'MigrateStoreError';
  readonly code: MigrateStoreErrorCode;

  constructor(code: MigrateStoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
