import { messageOf } from './delivery.ts';
import { TraceError } from './errors.ts';
import type { CloseReason } from './frames.ts';
import { memoryOf } from './memory.ts';
import type { Recorder } from './recorder.ts';

export type ExportedFunction = (...args: never[]) => unknown;

/** Makes the functions that an instance exports tell where calls from the host begin and end. */
export interface Binding {
  /** The instance, with its functions wrapped. */
  readonly bind: (instance: WebAssembly.Instance) => WebAssembly.Instance;
  /** The function that a wrapper stands for; itself, if it is none. */
  readonly unwrap: (wrapped: ExportedFunction) => ExportedFunction;
  readonly run: <Result>(action: () => Result, memory?: WebAssembly.Memory) => Result;
  /** The memory of the instance that exports a function. */
  readonly memoryOf: (original: ExportedFunction) => WebAssembly.Memory | undefined;
  readonly closeReasonOf: (thrown: unknown) => CloseReason;
}

const maxReasonLength = 1_024;

export function createBinding(
  recorder: Recorder,
  failureReason: (thrown: unknown) => string | undefined = reasonOf,
): Binding {
  const wrappers = new WeakMap<ExportedFunction, ExportedFunction>();
  const originals = new WeakMap<ExportedFunction, ExportedFunction>();
  const memories = new WeakMap<ExportedFunction, WebAssembly.Memory>();
  const instances = new WeakMap<WebAssembly.Instance, WebAssembly.Instance>();
  const closeReasonOf = (thrown: unknown): CloseReason => {
    let failure: string | undefined;
    try {
      failure = failureReason(thrown)?.slice(0, maxReasonLength);
    } catch {
      failure = reasonOf(thrown);
    }
    return { failure, isUnmatched: false };
  };
  const run = <Result>(action: () => Result, memory?: WebAssembly.Memory): Result => {
    const place = recorder.begin(memory);
    let result: Result;
    try {
      result = action();
    } catch (thrown) {
      recorder.end(place, closeReasonOf(thrown));
      throw thrown;
    }
    recorder.end(place);
    return result;
  };
  const wrap = (original: ExportedFunction, memory: WebAssembly.Memory | undefined): ExportedFunction => {
    const known = wrappers.get(original);
    if (known !== undefined) return known;
    const wrapper = (...args: never[]) => run(() => original(...args), memory);
    Object.defineProperty(wrapper, 'name', { value: original.name, configurable: true });
    Object.defineProperty(wrapper, 'length', { value: original.length, configurable: true });
    wrappers.set(original, wrapper);
    if (memory !== undefined) memories.set(original, memory);
    originals.set(wrapper, original);
    return wrapper;
  };
  return {
    bind(instance) {
      const known = instances.get(instance);
      if (known !== undefined) return known;
      const exports: WebAssembly.Exports = Object.create(null);
      const memory = memoryOf(instance);
      for (const [name, value] of Object.entries(instance.exports)) {
        exports[name] = typeof value === 'function' ? (wrap(value as ExportedFunction, memory) as typeof value) : value;
      }
      // Hosts look whether what they get is an instance.
      const bound: WebAssembly.Instance = Object.create(WebAssembly.Instance.prototype, {
        exports: { value: Object.freeze(exports), enumerable: true },
      });
      instances.set(instance, bound);
      instances.set(bound, bound);
      return bound;
    },
    unwrap: (wrapped) => originals.get(wrapped) ?? wrapped,
    run,
    memoryOf: (original) => memories.get(original),
    closeReasonOf,
  };
}

/** A thrown error's name and message: `RuntimeError: unreachable`. */
function reasonOf(thrown: unknown): string {
  const message = messageOf(thrown);
  const name = thrown instanceof Error ? thrown.name : nameOf(thrown);
  return (message === '' || message === name ? name : name === '' ? message : `${name}: ${message}`).slice(
    0,
    maxReasonLength,
  );
}

function nameOf(thrown: unknown): string {
  return typeof WebAssembly.Exception === 'function' && thrown instanceof WebAssembly.Exception
    ? 'WebAssembly.Exception'
    : '';
}

export function notAnExport(): TraceError {
  return new TraceError(
    'not_an_export',
    'Cannot make a promising function: expected a function that a bound instance exports',
  );
}
