export type CopyErrorCode =
  /** There is no store at the source. */
  | 'no_source'
  /** An older release wrote the source. */
  | 'older_source'
  /** The source, or the store to open, is an unfinished copy. */
  | 'unfinished_copy'
  /** Both stores have the same database, folder or bucket. */
  | 'same_store'
  /** The target holds something other than an unfinished copy of the source. */
  | 'not_empty'
  /** Another copy into the target has started. */
  | 'interrupted'
  /** Data of the source is missing or damaged. */
  | 'damaged_data'
  | 'differs';

/** Why a store was not copied, or not opened. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
  readonly code: CopyErrorCode;

  constructor(code: CopyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
