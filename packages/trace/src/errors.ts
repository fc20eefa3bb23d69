/** The stable codes of {@link TraceError}. */
export type TraceErrorCode =
  /** An option is unknown or invalid; `faults` lists each. */
  | 'invalid_option'
  /** The value is not a WebAssembly module. */
  | 'invalid_module'
  /** The module reported text, and its memory is unknown: bind its instance, or export the memory. */
  | 'no_memory'
  /** An exporter threw or rejected; `cause` is what it threw. */
  | 'export_failed';

/** An invalid option. */
export interface OptionFault {
  /** A JSON pointer to the option: https://www.rfc-editor.org/rfc/rfc6901 */
  readonly pointer: string;
  /** The expected and the actual value. */
  readonly detail: string;
}

/** The error class of this package. `code` is stable. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
  readonly code: TraceErrorCode;
  /** Every invalid option, for `invalid_option`; else empty. */
  readonly faults: readonly OptionFault[];

  constructor(
    code: TraceErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly faults?: readonly OptionFault[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.faults = options.faults ?? [];
  }
}
