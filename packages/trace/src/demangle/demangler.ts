import { limitMemory } from './limit-memory.ts';
import { createTimeBudget } from './time-budget.ts';

/** Writes a function's name as people do: mangled names of Rust (both kinds) and C++ (Itanium), every other as it stands. */
export type Demangle = (rawName: string) => string;

export interface DemanglerOptions {
  /** Longer names are handed back as they stand, in UTF-16 code units. Default: 16,384. */
  readonly maxNameLength?: number | undefined;
  /** Longer results are dropped, and the raw name is used. UTF-16 code units. Default: 16,384. */
  readonly maxResultLength?: number | undefined;
  /** A clock in milliseconds. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/*
 * The caller passes the module's bytes in, because `@tenon/trace` has no dependency. The package's own JavaScript is not used, because it can't
 * replace an instance after a trap. Its interface is that of wasm-bindgen, so tests detect changes of new versions.
 */

/** The exports of `gecko-profiler-demangle`, with wasm-bindgen's strings. */
interface DemanglerExports {
  readonly memory: WebAssembly.Memory;
  readonly demangle_any: (pointer: number, length: number) => [pointer: number, length: number];
  readonly __wbindgen_malloc: (bytes: number, alignment: number) => number;
  readonly __wbindgen_free: (pointer: number, bytes: number, alignment: number) => void;
}

/**
 * One MiB above what the module begins with. A C++ name of 250 letters can stand for gigabytes, since each part may name the one before
 * twice; such a name ends here within milliseconds.
 */
const maxMemoryPages = 34;

/**
 * Some names that mean nothing take the C++ library a tenth of a second to find that out. All such names together, and those that are slow to
 * read, may take this long at once, and this share of all time; what comes after that stays as it is for a while.
 */
const slowAllowanceMs = 2_000;
const slowShare = 0.05;
/** Names of real programs are read in microseconds; what takes longer is slow, or the machine is. */
const slowMs = 5;

/** Itanium C++ and Rust's older mangling, with the extra underscore of some linkers, and Rust's newer one. */
const mangled = /^_{1,2}Z|^_R[A-Z]/;
/** The end of Rust's legacy mangling: a hash as the last part of the path. */
const rustHash = /17h[0-9a-f]{16}E/;
/** The part that stands for C++'s unnamed namespace, where it was read as a part of a Rust path. */
const unnamedNamespace = /(^|::)_GLOBAL__N_1(?=::|$)/g;

/**
 * Makes a demangler out of the WebAssembly module of the npm package `gecko-profiler-demangle` 0.4, which holds the Rust project's own
 * `rustc-demangle` and gimli's `cpp_demangle`. `@tenon/trace` depends on nothing, so the bytes are handed in:
 *
 * ```js
 * import { readFile } from 'node:fs/promises';
 * const demangle = createDemangler(await readFile(new URL(import.meta.resolve('gecko-profiler-demangle/index_bg.wasm'))));
 * demangle('_ZN5space3fooEi'); // space::foo(int)
 * ```
 *
 * Names come from strangers' modules. Whatever they hold, memory stays within a MiB and time within bounds: a name that
 * can't be read so is handed back as it stands.
 *
 * @param wasm `index_bg.wasm` of that package
 * @throws TypeError where the module is another one
 */
export function createDemangler(wasm: BufferSource, options: DemanglerOptions = {}): Demangle {
  const { maxNameLength = 16_384, maxResultLength = 16_384, now = () => performance.now() } = options;
  const module = new WebAssembly.Module(limitMemory(bytesOf(wasm), maxMemoryPages));
  const budget = createTimeBudget(now, slowAllowanceMs, slowShare);
  let library = instantiate(module);

  /** `undefined` for a name that can't be read. */
  function read(name: string): string | undefined {
    try {
      const result = demangleAny(library, name, maxResultLength);
      // A name that it can't read comes back without its first underscore.
      return result === '' || result === name || result === name.slice(1) ? undefined : result;
    } catch {
      // A trap leaves a library of this kind in an unknown state.
      library = instantiate(module);
      return undefined;
    }
  }

  return (rawName) => {
    if (!mangled.test(rawName) || rawName.length > maxNameLength || budget.isSpent()) return rawName;
    const name = rawName.startsWith('__Z') ? rawName.slice(1) : rawName;
    const startMs = now();
    const result = read(name);
    if (result === undefined || now() - startMs > slowMs) budget.charge(startMs);
    if (result === undefined) return rawName;
    return rustHash.test(name) ? result : result.replace(unnamedNamespace, '$1(anonymous namespace)');
  };
}

function instantiate(module: WebAssembly.Module): DemanglerExports {
  // Prepares a table for values of JavaScript, of which strings make no use.
  const imports = { './index_bg.js': { __wbindgen_init_externref_table: () => {} } };
  const { exports } = new WebAssembly.Instance(module, imports);
  for (const name of ['demangle_any', '__wbindgen_malloc', '__wbindgen_free']) {
    if (typeof exports[name] !== 'function') {
      throw new TypeError(
        `Expected the module of gecko-profiler-demangle 0.4, found one that exports no function ${name}`,
      );
    }
  }
  return exports as unknown as DemanglerExports;
}

/** The empty string where the result is longer than the limit: it is not worth reading. */
function demangleAny(library: DemanglerExports, name: string, maxLength: number): string {
  const bytes = new TextEncoder().encode(name);
  const input = library.__wbindgen_malloc(bytes.length, 1) >>> 0;
  new Uint8Array(library.memory.buffer, input, bytes.length).set(bytes);
  const [pointer, length] = library.demangle_any(input, bytes.length);
  const output = pointer >>> 0;
  const text =
    length > maxLength ? '' : new TextDecoder().decode(new Uint8Array(library.memory.buffer, output, length));
  library.__wbindgen_free(output, length, 1);
  return text;
}

function bytesOf(source: BufferSource): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}
