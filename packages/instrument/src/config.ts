import { InstrumentError } from './errors.ts';

/**
 * Which functions are traced: at most one of the two lists. A name matches a function's name in the `name` section, its
 * export name, or `module.field` for an import. Without either, every function is traced.
 */
export interface InstrumentOptions {
  /** Only these are traced. Default: all functions. */
  readonly allowed?: readonly string[] | undefined;
  /** These are not traced. Default: none. */
  readonly banned?: readonly string[] | undefined;
  /**
   * The generation of exception handling in which `exit` is kept in step, for a module that has tags but no handler that
   * would tell which one its engine expects. `legacy` is `try`, `exnref` is `try_table`; engines refuse a mix.
   * Default: `exnref`, the generation of Wasm 3.0.
   */
  readonly exceptionHandling?: 'legacy' | 'exnref' | undefined;
}

/**
 * Reads the interface's configuration: a JSON object with exactly one of `allowed` and `banned`, an array of strings.
 * Anything else throws an {@link InstrumentError} with code `invalid_config` that says what is wrong.
 */
export function parseConfig(text: string): InstrumentOptions {
  const config = parseJson(text);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw invalidConfig(`Expected the configuration to be an object, found ${kindOf(config)}`);
  }
  const keys = Object.keys(config);
  const unknown = keys.find((key) => key !== 'allowed' && key !== 'banned');
  if (unknown !== undefined) {
    throw invalidConfig(`Expected only "allowed" or "banned" in the configuration, found ${JSON.stringify(unknown)}`);
  }
  if (keys.length === 2) throw invalidConfig('Expected one of "allowed" and "banned" in the configuration, found both');
  if (keys.length === 0)
    throw invalidConfig('Expected one of "allowed" and "banned" in the configuration, found neither');
  if ('allowed' in config) return { allowed: checkNames('allowed', config.allowed) };
  return { banned: checkNames('banned', (config as { banned: unknown }).banned) };
}

/** Checks options that did not come through {@link parseConfig}. Throws `invalid_config`. */
export function checkOptions(options: InstrumentOptions): void {
  if (options.allowed !== undefined) checkNames('allowed', options.allowed);
  if (options.banned !== undefined) checkNames('banned', options.banned);
  if (options.allowed !== undefined && options.banned !== undefined) {
    throw invalidConfig('Expected at most one of "allowed" and "banned", found both');
  }
  const generation: unknown = options.exceptionHandling;
  if (generation !== undefined && generation !== 'legacy' && generation !== 'exnref') {
    throw invalidConfig(`Expected "exceptionHandling" to be "legacy" or "exnref", found ${JSON.stringify(generation)}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidConfig(`Expected the configuration to be JSON: ${(cause as Error).message}`, cause);
  }
}

function checkNames(key: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalidConfig(`Expected "${key}" to be an array of strings, found ${kindOf(value)}`);
  const wrong = value.findIndex((item) => typeof item !== 'string');
  if (wrong !== -1) {
    throw invalidConfig(`Expected "${key}" to be an array of strings, found ${kindOf(value[wrong])} at index ${wrong}`);
  }
  return value;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function invalidConfig(message: string, cause?: unknown): InstrumentError {
  return new InstrumentError('invalid_config', message, { cause });
}
