import type { Binding } from './bind.ts';
import { type ObserveImports, observeModules } from './imports.ts';
import type { Recorder } from './recorder.ts';

/** Instantiates the module with the host's imports and those of tracing. */
export interface Instantiation {
  readonly instantiate: (hostImports?: WebAssembly.Imports) => Promise<WebAssembly.Instance>;
  readonly instantiateSync: (hostImports?: WebAssembly.Imports) => WebAssembly.Instance;
}

export interface InstantiationParts {
  readonly recorder: Recorder;
  readonly binding: Binding;
  /** The imports of a new instance. */
  readonly imports: () => ObserveImports;
  /** Receives the host's imports before the module's start function may run. */
  readonly onImports: (module: WebAssembly.Module, hostImports: WebAssembly.Imports) => void;
}

/**
 * Compiles the module when it is first needed, and keeps it. Calls that a trap in the start function leaves open end as failed,
 * with the trap as the reason.
 */
export function createInstantiation(
  module: WebAssembly.Module | BufferSource,
  { recorder, binding, imports, onImports }: InstantiationParts,
): Instantiation {
  let compiledModule = module instanceof WebAssembly.Module ? module : undefined;
  let compiling: Promise<WebAssembly.Module> | undefined;
  const merge = (compiled: WebAssembly.Module, hostImports: WebAssembly.Imports): WebAssembly.Imports => {
    onImports(compiled, hostImports);
    const own = imports();
    const observed = observeModules.map((name) => [
      name,
      { value: { ...hostImports[name], ...own[name] }, enumerable: true },
    ]);
    // Not a copy: the host's imports may be a proxy that makes values on demand.
    return Object.create(hostImports, Object.fromEntries(observed));
  };
  return {
    async instantiate(hostImports = {}) {
      if (compiledModule === undefined) {
        compiling ??= WebAssembly.compile(module as BufferSource);
        compiledModule = await compiling;
      }
      const merged = merge(compiledModule, hostImports);
      const release = recorder.deferUnclosedCalls();
      try {
        const instance = await WebAssembly.instantiate(compiledModule, merged);
        release();
        return instance;
      } catch (thrown) {
        release(binding.closeReasonOf(thrown));
        throw thrown;
      }
    },
    instantiateSync(hostImports = {}) {
      const compiled = compiledModule ?? new WebAssembly.Module(module as BufferSource);
      compiledModule = compiled;
      const merged = merge(compiled, hostImports);
      return binding.run(() => new WebAssembly.Instance(compiled, merged));
    },
  };
}
