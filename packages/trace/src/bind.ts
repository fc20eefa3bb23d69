import { type Adaptive, isAdaptiveExport } from './adaptive.ts';
import { messageOf } from './delivery.ts';
import type { CloseReason } from './frames.ts';
import { memoryOf } from './memory.ts';
import type { Recorder } from './recorder.ts';

type ExportedFunction = (...args: never[]) => unknown;

/**
 * Marks where calls from the host begin and end, by wrapping the functions that an instance exports. Events carry only a function's index: a
 * module reports neither that a trap has ended its calls, nor that a call waits for a promise. So a bound export ends deeper calls after the
 * call, as failed. Calls that wait for promises get no stack of their own, because no host needs one, and it would add a second way to call.
 */
export interface Binding {
  /** The instance, with its functions wrapped. */
  readonly bind: (instance: WebAssembly.Instance) => WebAssembly.Instance;
  readonly run: <Result>(action: () => Result, memory?: WebAssembly.Memory, func?: number) => Result;
  readonly closeReasonOf: (thrown: unknown) => CloseReason;
}

export interface BindingParts {
  readonly failureReason?: ((thrown: unknown) => string | undefined) | undefined;
  readonly adaptive?: Adaptive | undefined;
}

const maxReasonLength = 1_024;

export function createBinding(recorder: Recorder, { failureReason = reasonOf, adaptive }: BindingParts = {}): Binding {
  const wrappers = new WeakMap<ExportedFunction, ExportedFunction>();
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
  const run = <Result>(action: () => Result, memory?: WebAssembly.Memory, func?: number): Result => {
    const place = recorder.begin(memory, func);
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
    // https://webassembly.github.io/spec/js-api/#a-new-exported-function
    const index = Number(original.name);
    const wrapper = (...args: never[]) => run(() => original(...args), memory, index);
    Object.defineProperty(wrapper, 'name', { value: original.name, configurable: true });
    Object.defineProperty(wrapper, 'length', { value: original.length, configurable: true });
    wrappers.set(original, wrapper);
    return wrapper;
  };
  return {
    bind(instance) {
      const known = instances.get(instance);
      if (known !== undefined) return known;
      const exports: WebAssembly.Exports = Object.create(null);
      const memory = memoryOf(instance);
      const isAdaptive = adaptive?.attach(instance.exports);
      for (const [name, value] of Object.entries(instance.exports)) {
        if (isAdaptive && isAdaptiveExport(name)) continue;
        exports[name] = typeof value === 'function' ? (wrap(value as ExportedFunction, memory) as typeof value) : value;
      }
      // Hosts check for `instanceof WebAssembly.Instance`.
      const bound: WebAssembly.Instance = Object.create(WebAssembly.Instance.prototype, {
        exports: { value: Object.freeze(exports), enumerable: true },
      });
      instances.set(instance, bound);
      instances.set(bound, bound);
      return bound;
    },
    run,
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
