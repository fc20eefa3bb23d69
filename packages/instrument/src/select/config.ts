import { InstrumentError } from '../errors.ts';

/**
 * Which functions are traced, and how: those that at most one of two lists selects, narrowed by further options. A name in a list matches a function's name in the
 * `name` section, its export name, or `module.field` for an import. Without either list, every function is traced.
 */
export interface InstrumentOptions extends ExtraOptions {
  /** Only these are traced. Default: all functions. */
  readonly allowed?: readonly string[] | undefined;
  /** These are not traced. Default: none. */
  readonly banned?: readonly string[] | undefined;
  /** The module's source map as text, if it isn't in the module. */
  readonly sourceMap?: string | undefined;
  /**
   * Where the rewritten {@link sourceMap} will be, for the section `sourceMappingURL`. `data:` puts the map into the module.
   * Default: the same URL.
   */
  readonly sourceMapUrl?: string | undefined;
  /** The file that `external_debug_info` names: a module with the DWARF sections that this one lacks. */
  readonly debugFile?: Uint8Array | undefined;
  /** Where the rewritten {@link debugFile} will be, for the section `external_debug_info`. Default: the same URL. */
  readonly debugFileUrl?: string | undefined;
  /**
   * Called about once per MiB of code. An exception from it ends the work.
   */
  readonly onProgress?: ProgressListener | undefined;
}

/** Receives the number of bytes of code that are done, and their total. */
export type ProgressListener = (doneBytes: number, totalBytes: number) => void;

/** Options beyond the interface's configuration. */
export interface ExtraOptions {
  /**
   * Whether the output has a section that maps its code offsets to those of the input, for `readOffsetMap()`. Default: false.
   */
  readonly codeMap?: boolean | undefined;
  /** Whether DWARF sections (`.debug_*`) are rewritten for the moved code, or dropped. Default: `keep`. */
  readonly debugInfo?: 'keep' | 'drop' | undefined;
  /**
   * Whether the lists contain patterns: `*` matches any number of characters, `?` one character, and `\\` escapes the next
   * one. The whole name must match, and case matters. At most 1,000 patterns of at most 1,000 bytes. Only a pattern that
   * begins with `wasm:` matches functions that the engine provides (`wasm:js-string`). Default: false.
   */
  readonly patterns?: boolean | undefined;
  /**
   * The kind of exception handling for a module that has tags but no handler: `legacy` is `try`, `exnref` is `try_table`.
   * Engines refuse a mix. Other modules keep their own. Default: `exnref`, which is part of Wasm 3.0.
   */
  readonly exceptionHandling?: 'legacy' | 'exnref' | undefined;
  /**
   * Whether calls of the module's own allocators report sizes and pointers, to `allocator-enter` and `allocator-exit` of
   * `tenon:instrument`. True: all with a known name, such as `malloc`. A list names them: `malloc`, or `pool_get=malloc` for
   * a function with the signature of `malloc`. Default: false.
   */
  readonly memory?: boolean | readonly string[] | undefined;
  /**
   * Of the selected functions, only those are traced that these exported functions can reach inside the module: by calls, by
   * references that they take, and by indirect calls of a type that a function in a table has. Default: all.
   */
  readonly reachableFrom?: readonly string[] | undefined;
  /** Of the selected functions, those with a smaller body are not traced. Imports stay selected. Default: 0. */
  readonly minBytes?: number | undefined;
  /**
   * Of the selected functions, only those are traced whose source file matches one of these patterns, according to the
   * module's DWARF or source map. A pattern matches a whole path or the end of one: `parser/*.c` matches
   * `/home/me/parser/lex.c`. Default: all.
   */
  readonly sourceFiles?: readonly string[] | undefined;
  /**
   * Of the selected functions, only those are traced that lie in a namespace that matches one of these patterns: `serde_*`
   * is a crate, `std::__2` a C++ namespace, `net/http` a Go package, `~lib/array` an AssemblyScript file. Reads mangled and
   * demangled names. Default: all.
   */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Whether calls and the growth of memories are traced. Without tracing, the output imports nothing that the input
   * doesn't, for coverage or fuel alone. Default: true.
   */
  readonly trace?: boolean | undefined;
  /** Whether the module counts how often each basic block runs; see {@link readCounters}. Default: false. */
  readonly coverage?: boolean | undefined;
  /**
   * How many instructions the module may execute, from 0 to 2^53 - 1: a time limit that is the same in every run. The
   * exported global `tenon:fuel`, a mutable i64, has the rest; the host may set it before a call. Below zero the module
   * traps at the next start of a loop, or of a function that calls others. A bulk instruction costs 1 more for every 8 bytes or elements.
   * Default: no limit.
   */
  readonly fuel?: number | undefined;
  /**
   * What happens below zero fuel: `trap`, or first a call of the import `out-of-fuel` of `tenon:instrument`, a function
   * without parameters and results. If it adds fuel, the module continues. Default: `trap`.
   */
  readonly onOutOfFuel?: 'trap' | 'call' | undefined;
  /**
   * Whether each function checks a counter before it calls `enter`, so that the host can skip its calls: `@tenon/trace` does
   * so for functions whose calls are too short for a span. The module exports these counters, and works in any host.
   * Default: false.
   */
  readonly adaptive?: boolean | undefined;
  /**
   * Whether functions are left out whose calls are always too short for a span: they contain no loop and no call, and the
   * module doesn't export them. Default: false.
   */
  readonly skipLeaves?: boolean | undefined;
  /** Of each function's calls, one in this many is traced, beginning with the first. Default: 1, which traces all. */
  readonly every?: number | undefined;
}

/**
 * Reads the interface's configuration: a JSON object with exactly one of `allowed` and `banned`, an array of strings.
 * Throws an {@link InstrumentError} with code `invalid_config` for anything else.
 */
export function parseConfig(text: string): InstrumentOptions {
  const config = parseJson(text, 'the configuration');
  checkObject(config, 'the configuration');
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

/**
 * Reads {@link ExtraOptions} from a JSON object. Throws an {@link InstrumentError} with code `invalid_config` for an unknown
 * key or a wrong type.
 */
export function parseExtraOptions(text: string): ExtraOptions {
  const options = parseJson(text, 'the options');
  checkObject(options, 'the options');
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(extraOptionChecks, key));
  if (unknown !== undefined) throw unknownOption(extraOptionChecks, unknown);
  checkOptions(options);
  return options;
}

/** Throws `invalid_config` unless the value fits the option. */
type OptionCheck = (key: string, value: unknown) => void;

/** The options that the command line and `POST /instrument` take besides the lists. */
const extraOptionChecks: Readonly<Record<keyof ExtraOptions, OptionCheck>> = {
  codeMap: checkBoolean,
  debugInfo: oneOf('keep', 'drop'),
  patterns: checkBoolean,
  exceptionHandling: oneOf('legacy', 'exnref'),
  memory: checkBooleanOrNames,
  reachableFrom: checkNames,
  minBytes: checkSize,
  sourceFiles: checkNames,
  namespaces: checkNames,
  trace: checkBoolean,
  coverage: checkBoolean,
  fuel: checkSize,
  onOutOfFuel: oneOf('trap', 'call'),
  adaptive: checkBoolean,
  skipLeaves: checkBoolean,
  every: checkCount,
};

const optionChecks: Readonly<Record<keyof InstrumentOptions, OptionCheck>> = {
  allowed: checkNames,
  banned: checkNames,
  ...extraOptionChecks,
  sourceMap: checkText,
  sourceMapUrl: checkText,
  debugFile: checkBytes,
  debugFileUrl: checkText,
  onProgress: checkFunction,
};

/** Checks options and refuses unknown keys. Throws `invalid_config`. */
export function checkOptions(options: InstrumentOptions): void {
  checkObject(options, 'the options');
  for (const [key, value] of Object.entries(options)) {
    if (!Object.hasOwn(optionChecks, key)) throw unknownOption(optionChecks, key);
    if (value !== undefined) optionChecks[key as keyof InstrumentOptions](key, value);
  }
  if (options.allowed !== undefined && options.banned !== undefined) {
    throw invalidConfig('Expected at most one of "allowed" and "banned", found both');
  }
  if (options.trace === false && (options.allowed !== undefined || options.banned !== undefined)) {
    throw invalidConfig('Expected neither "allowed" nor "banned" with "trace": false');
  }
  if (options.onOutOfFuel !== undefined && options.fuel === undefined) {
    throw invalidConfig('Expected "fuel" with "onOutOfFuel"');
  }
}

function unknownOption(checks: object, key: string): InstrumentError {
  const known = Object.keys(checks).map((name) => `"${name}"`);
  return invalidConfig(`Expected only the options ${known.join(', ')}, found ${JSON.stringify(key)}`);
}

function checkBoolean(key: string, value: unknown): void {
  if (typeof value !== 'boolean') throw invalidConfig(`Expected "${key}" to be true or false, found ${kindOf(value)}`);
}

function checkBooleanOrNames(key: string, value: unknown): void {
  if (typeof value === 'boolean') return;
  if (Array.isArray(value)) checkNames(key, value);
  else throw invalidConfig(`Expected "${key}" to be true, false, or an array of strings, found ${kindOf(value)}`);
}

function checkSize(key: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return;
  const found = typeof value === 'number' ? String(value) : kindOf(value);
  throw invalidConfig(`Expected "${key}" to be a non-negative integer, found ${found}`);
}

function checkCount(key: string, value: unknown): void {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 0x7fff_ffff) return;
  const found = typeof value === 'number' ? String(value) : kindOf(value);
  throw invalidConfig(`Expected "${key}" to be an integer from 1 to 2147483647, found ${found}`);
}

function checkText(key: string, value: unknown): void {
  if (typeof value !== 'string') throw invalidConfig(`Expected "${key}" to be a string, found ${kindOf(value)}`);
}

function checkBytes(key: string, value: unknown): void {
  if (!(value instanceof Uint8Array)) throw invalidConfig(`Expected "${key}" to be bytes, found ${kindOf(value)}`);
}

function checkFunction(key: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidConfig(`Expected "${key}" to be a function, found ${kindOf(value)}`);
}

function oneOf(...choices: readonly string[]): OptionCheck {
  return (key, value) => {
    if (choices.some((choice) => choice === value)) return;
    const expected = choices.map((choice) => `"${choice}"`).join(' or ');
    throw invalidConfig(`Expected "${key}" to be ${expected}, found ${JSON.stringify(value)}`);
  };
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidConfig(`Expected ${what} to be JSON: ${(cause as Error).message}`, cause);
  }
}

function checkObject(value: unknown, what: string): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw invalidConfig(`Expected ${what} to be an object, found ${kindOf(value)}`);
}

function checkNames(key: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalidConfig(`Expected "${key}" to be an array of strings, found ${kindOf(value)}`);
  const wrong = value.findIndex((item) => typeof item !== 'string');
  if (wrong !== -1) {
    throw invalidConfig(`Expected "${key}" to be an array of strings, found ${kindOf(value[wrong])} at index ${wrong}`);
  }
  return value;
}

/** Describes a value in an error text. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function invalidConfig(message: string, cause?: unknown): InstrumentError {
  return new InstrumentError('invalid_config', message, { cause });
}
