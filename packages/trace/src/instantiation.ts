import type { Binding } from './bind.ts';
import { type ObserveImports, observeModules } from './imports.ts';
import type { Recorder } from './recorder.ts';

/** Instantiates the module with the host's imports and those of tracing. */
export interface Instantiation {
  readonly instantiate: (own?: WebAssembly.Imports) => Promise<WebAssembly.Instance>;
  readonly instantiateSync: (own?: WebAssembly.Imports) => WebAssembly.Instance;
}

export interface InstantiationParts {
  readonly recorder: Recorder;
  readonly binding: Binding;
  readonly imports: ObserveImports;
  /** Receives the host's imports before the module's start function may run. */
  readonly onImports: (module: WebAssembly.Module, own: WebAssembly.Imports) => void;
}

/** Compiles the module once. Calls that a trap in the start function leaves open end with that reason. */
export function createInstantiation(
  module: WebAssembly.Module | BufferSource,
  { recorder, binding, imports, onImports }: InstantiationParts,
): Instantiation {
  let compiled = module instanceof WebAssembly.Module ? module : undefined;
  const merge = (found: WebAssembly.Module, own: WebAssembly.Imports): WebAssembly.Imports => {
    onImports(found, own);
    const observed = observeModules.map((name) => [
      name,
      { value: { ...own[name], ...imports[name] }, enumerable: true },
    ]);
    // Not a copy: the host's imports may be a proxy that makes values on demand.
    return Object.create(own, Object.fromEntries(observed));
  };
  return {
    async instantiate(own = {}) {
      compiled ??= await WebAssembly.compile(module as BufferSource);
      const merged = merge(compiled, own);
      const release = recorder.deferUnclosedCalls();
      try {
        const instance = await WebAssembly.instantiate(compiled, merged);
        release();
        return instance;
      } catch (thrown) {
        release(binding.closeReasonOf(thrown));
        throw thrown;
      }
    },
    instantiateSync(own = {}) {
      const found = compiled ?? new WebAssembly.Module(module as BufferSource);
      compiled = found;
      const merged = merge(found, own);
      return binding.run(() => new WebAssembly.Instance(found, merged));
    },
  };
}
