import assert from 'node:assert/strict';
import { describeModule, instrument } from '../../../src/index.ts';

/** What one module showed. */
export interface Tally {
  readonly calls: number;
  readonly enters: number;
  readonly wasCompared: boolean;
}

const hookModule = 'dylibso:observe/instrument';
/** The fuzzer bounds loops and recursion; that through the host, which catches what the bound throws, is bounded here. */
const maxHostCalls = 1_000;

/**
 * Runs a module that binaryen's fuzzer made, as it is and instrumented: the same calls of the host with the same values,
 * the same results and traps, and `enter` and `exit` that nest. Where either runs out of stack, which depends on the size
 * of frames, nothing is compared.
 */
export function compareRuns(input: Uint8Array, what: string): Tally {
  const plain = run(input, undefined);
  const { bytes, report } = instrument(input);
  const nesting = createNesting();
  const traced = run(bytes, nesting);
  const wasCompared = !plain.ranOut && !traced.ranOut;
  if (wasCompared) {
    assert.deepEqual(traced.log, plain.log, `${what}: the same happens`);
    assert.deepEqual(nesting.faults, [], `${what}: calls nest`);
    if (plain.log.length > 1 && report.tracedFunctions > 0) assert.ok(report.addedImports.includes('enter'), what);
  }
  return { calls: plain.log.length, enters: nesting.enters(), wasCompared };
}

interface Nesting {
  readonly hooks: Record<string, (argument: number) => void>;
  readonly open: number[];
  readonly faults: string[];
  readonly enters: () => number;
}

class TooMuch extends Error {}

function createNesting(): Nesting {
  const open: number[] = [];
  const faults: string[] = [];
  let enters = 0;
  return {
    hooks: {
      enter(index) {
        enters++;
        open.push(index);
      },
      exit(index) {
        const innermost = open.pop();
        if (innermost !== index && faults.length < 5) faults.push(`exit ${index} while ${innermost} was innermost`);
      },
      'memory-grow'(pages) {
        if (pages === 0) faults.push('a growth by nothing');
      },
    },
    open,
    faults,
    enters: () => enters,
  };
}

interface Run {
  readonly log: string[];
  readonly ranOut: boolean;
}

type JsFunction = (...args: unknown[]) => unknown;

function run(bytes: Uint8Array, nesting: Nesting | undefined): Run {
  const log: string[] = [];
  let ranOut = false;
  const open = nesting?.open ?? [];
  const module = new WebAssembly.Module(new Uint8Array(bytes));
  const wasmTag = new WebAssembly.Tag({ parameters: ['i32'] });
  let exports: WebAssembly.Exports = {};

  /** What remains open after a trap is what lay inside of this call; an exception leaves nothing open. */
  const attempt = (action: () => unknown): { result: string; isError: boolean; error?: unknown } => {
    const depth = open.length;
    try {
      const result = describe(action());
      if (open.length !== depth) nesting?.faults.push(`${open.length - depth} calls are open after a return`);
      return { result, isError: false };
    } catch (error) {
      if (error instanceof RangeError) ranOut = true;
      const isException = error instanceof WebAssembly.Exception;
      if (isException && handlesExceptions && open.length !== depth) {
        nesting?.faults.push(`${open.length - depth} calls are open after an exception`);
      }
      open.length = Math.min(open.length, depth);
      const result = isException ? `exception ${error.is(wasmTag)}` : describeError(error);
      return { result, isError: true, error };
    }
  };
  // Whether it has tags, or one at least that can be seen from here.
  const handlesExceptions = [...WebAssembly.Module.imports(module), ...WebAssembly.Module.exports(module)].some(
    ({ kind }) => (kind as string) === 'tag',
  );
  const callExport = (index: number) => {
    const name = Object.keys(exports)[index >>> 0];
    const item = name === undefined ? undefined : exports[name];
    if (typeof item === 'function') callWithNulls(item as JsFunction);
  };
  const table = () => exports.table as WebAssembly.Table;
  const orRethrow = (action: () => unknown) => {
    const { isError, error } = attempt(action);
    if (isError) throw error;
  };
  const support: Record<string, JsFunction> = {
    throw(which) {
      if (which === 0) throw new Error('from the host');
      throw new WebAssembly.Exception(wasmTag, [which as number]);
    },
    'call-export': (index) => orRethrow(() => callExport(index as number)),
    'call-export-catch': (index) => Number(attempt(() => callExport(index as number)).isError),
    'call-ref': (reference) => orRethrow(() => callWithNulls(reference as JsFunction)),
    'call-ref-catch': (reference) => Number(attempt(() => callWithNulls(reference as JsFunction)).isError),
    'table-get': (index) => table().get((index as number) >>> 0),
    'table-set': (index, value) => table().set((index as number) >>> 0, value),
    sleep: (_, id) => id,
  };
  const imports: Record<string, Record<string, unknown>> = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (from === hookModule) continue;
    imports[from] ??= {};
    imports[from][name] = importFor(name, kind);
  }
  function importFor(name: string, kind: string): unknown {
    if (kind === 'tag') return name === 'jstag' ? jsTag : wasmTag;
    if (kind === 'global') return globalFor(name);
    const known = support[name];
    return (...args: unknown[]) => {
      log.push(`${name} ${args.map(describe).join()}`);
      if (log.length > maxHostCalls) throw new TooMuch();
      return known?.(...args);
    };
  }
  const all = { ...imports, ...(nesting && { [hookModule]: nesting.hooks }) } as WebAssembly.Imports;
  const { result } = attempt(() => {
    exports = new WebAssembly.Instance(module, all).exports;
  });
  log.push(`instantiated: ${result}`);
  for (const { name, type } of describeModule(bytes).exports) {
    if (ranOut) break;
    const item = exports[name] as JsFunction;
    if (type) log.push(`${name}: ${attempt(() => item?.(...defaultsOf(type.params))).result}`);
  }
  return { log, ranOut };
}

/** The tag of JavaScript's own exceptions, which the declarations do not know. */
const jsTag = (WebAssembly as unknown as { JSTag: WebAssembly.Tag }).JSTag;

/** The fuzzer imports immutable globals, references to something of the host and numbers. */
function globalFor(name: string): unknown {
  return name.startsWith('extern') ? { extern: name } : 0;
}

/** Null is a number and a reference to nothing; only for an i64, or a reference that must not be null, the call fails. */
function callWithNulls(target: JsFunction): unknown {
  return target(...new Array<null>(target.length).fill(null));
}

/** One of each type, so that exports do run. */
function defaultsOf(params: readonly string[]): unknown[] {
  return params.map((type) => (type === 'i64' ? 0n : null));
}

function describeError(error: unknown): string {
  if (error instanceof WebAssembly.RuntimeError) return `trap: ${error.message}`;
  return error instanceof Error ? error.constructor.name : describe(error);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(describe).join()}]`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'extern' in value ? `extern ${value.extern}` : 'a reference';
  return Object.is(value, -0) ? '-0' : String(value);
}
