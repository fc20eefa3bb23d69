/** Stable codes for why a module or a configuration is refused. */
export type InstrumentErrorCode =
  | 'not_wasm'
  | 'component_not_supported'
  | 'invalid_module'
  | 'unsupported_feature'
  | 'already_instrumented'
  | 'relocatable_object'
  | 'module_too_complex'
  | 'invalid_config';

export interface InstrumentErrorOptions {
  /** Byte offset in the input module. */
  readonly offset?: number | undefined;
  /** Name of the proposal or of the engine limit, for `unsupported_feature`. */
  readonly feature?: string | undefined;
  /** Index in the input's function index space, if the fault is in a function body. */
  readonly functionIndex?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The error class of this package. `code` is stable. A message about bytes says what was expected and found, and ends
 * with the offset in hexadecimal, as in other WebAssembly tools.
 */
export class InstrumentError extends Error {
  override readonly name = 'InstrumentError';
  readonly code: InstrumentErrorCode;
  readonly offset: number | undefined;
  readonly feature: string | undefined;
  readonly functionIndex: number | undefined;

  constructor(code: InstrumentErrorCode, message: string, options: InstrumentErrorOptions = {}) {
    const { offset, feature, functionIndex, cause } = options;
    const inFunction = functionIndex === undefined ? '' : ` in function ${functionIndex}`;
    const atOffset = offset === undefined ? '' : ` (at offset 0x${offset.toString(16)})`;
    super(`${message}${inFunction}${atOffset}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.offset = offset;
    this.feature = feature;
    this.functionIndex = functionIndex;
  }
}

/** An `invalid_module` error: the bytes break the binary format. */
export function invalidModule(message: string, offset: number, functionIndex?: number): InstrumentError {
  return new InstrumentError('invalid_module', message, { offset, functionIndex });
}

/** An `unsupported_feature` error: the bytes may be valid, but the rewriter doesn't support them. */
export function unsupportedFeature(
  feature: string,
  message: string,
  offset: number,
  functionIndex?: number,
): InstrumentError {
  return new InstrumentError('unsupported_feature', `${message}, which needs ${feature}`, {
    offset,
    feature,
    functionIndex,
  });
}

/** A `module_too_complex` error: the module exceeds a limit of this package. */
export function tooComplex(what: string, found: number, limit: number, offset: number): InstrumentError {
  const message = `Expected at most ${limit.toLocaleString('en')} ${what}, found ${found.toLocaleString('en')}`;
  return new InstrumentError('module_too_complex', message, { offset });
}

/** An `unsupported_feature` error: the module exceeds, or its output would exceed, a limit of engines. */
export function limitExceeded(what: string, found: number, limit: number, offset: number): InstrumentError {
  const feature = `more than ${limit.toLocaleString('en')} ${what}`;
  const message = `Cannot instrument a module with ${found.toLocaleString('en')} ${what}: engines accept ${limit.toLocaleString('en')}`;
  return new InstrumentError('unsupported_feature', message, { offset, feature });
}
