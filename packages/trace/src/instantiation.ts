import type { Binding } from './bind.ts';
import { TraceError } from './errors.ts';
import { type ObserveImports, observeModules } from './imports.ts';
import type { Recorder } from './recorder.ts';

/** Makes instances of the module whose imports are those of the host and those of tracing. */
export interface Instantiation {
  readonly instantiate: (own?: WebAssembly.Imports) => Promise<WebAssembly.Instance>;
  readonly instantiateSync: (own?: WebAssembly.Imports) => WebAssembly.Instance;
}

export interface InstantiationParts {
  readonly recorder: Recorder;
  readonly binding: Binding;
  readonly imports: ObserveImports;
  /** Whether an import was made with `WebAssembly.Suspending` itself. */
  readonly isForeign: (value: unknown) => boolean;
  /** Hears of the host's imports before the module's start function may run. */
  readonly onImports: (module: WebAssembly.Module, own: WebAssembly.Imports) => void;
}

/** The module is compiled once. Its start function may leave calls open by a trap, which end then, with the reason. */
export function createInstantiation(
  module: WebAssembly.Module | BufferSource,
  { recorder, binding, imports, isForeign, onImports }: InstantiationParts,
): Instantiation {
  let compiled = module instanceof WebAssembly.Module ? module : undefined;
  const merge = (found: WebAssembly.Module, own: WebAssembly.Imports): WebAssembly.Imports => {
    refuseForeign(own, isForeign);
    onImports(found, own);
    const observed = observeModules.map((name) => [
      name,
      { value: { ...own[name], ...imports[name] }, enumerable: true },
    ]);
    // Not a copy: hosts hand over objects that make what is asked for, such as proxies.
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

function refuseForeign(imports: WebAssembly.Imports, isForeign: (value: unknown) => boolean): void {
  for (const [module, fields] of Object.entries(imports)) {
    for (const [field, value] of Object.entries(fields ?? {})) {
      if (!isForeign(value)) continue;
      const detail = `Cannot trace calls that wait in the import ${module}.${field}: make it with suspending() of the trace context`;
      throw new TraceError('foreign_suspending', detail);
    }
  }
}
