/** The stable reasons for which the adapter refuses something. */
export type TraceErrorCode =
  /** An option has a wrong type or value, or no such option exists; `faults` says which. */
  | 'invalid_option'
  /** The bytes handed in are no WebAssembly module, or its `name` section can't be had. */
  | 'invalid_module'
  /** An import was made with `WebAssembly.Suspending` itself, which hides from the adapter when a call waits. */
  | 'foreign_suspending'
  /** The engine has no JavaScript Promise Integration. */
  | 'no_promise_integration'
  /** A function was expected that an instance bound to this context exports. */
  | 'not_an_export'
  /** The module reported text, and its memory is not known: bind its instance, or export the memory. */
  | 'no_memory'
  /** An exporter threw or rejected; `cause` is what it threw. */
  | 'export_failed';

/** One option that is wrong. */
export interface OptionFault {
  /** Where it is, as a JSON pointer: https://www.rfc-editor.org/rfc/rfc6901 */
  readonly pointer: string;
  /** What was expected there and what was found. */
  readonly detail: string;
}

/** The one error of this package. `code` is stable. */
export class TraceError extends Error {
  override readonly name = 'TraceError';
  readonly code: TraceErrorCode;
  /** Every wrong option, for `invalid_option`; else empty. */
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
