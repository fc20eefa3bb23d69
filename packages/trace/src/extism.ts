import type { ObserveImports } from './imports.ts';

/**
 * A host function of [Extism](https://extism.org), which receives a context of the call before its arguments. The types are those of
 * Extism's SDK, which this package doesn't depend on.
 */
// biome-ignore lint/suspicious/noExplicitAny: Extism declares its functions so, and nothing stricter is assignable to them.
export type ExtismFunction = (this: any, callContext: any, ...args: any[]) => any;

/** Host functions by module and name, as the option `functions` of Extism's `createPlugin()` takes them. */
export type ExtismFunctions = Record<string, Record<string, ExtismFunction>>;

/**
 * The imports of tracing as host functions of Extism:
 *
 * ```ts
 * const trace = start(bytes, options);
 * const plugin = await createPlugin({ wasm: [{ data: bytes }] }, { functions: extismFunctions(trace) });
 * ```
 *
 * Modules that are not instrumented don't call them.
 *
 * @param trace what `start()` returned for the module
 */
export function extismFunctions({ imports }: { readonly imports: ObserveImports }): ExtismFunctions {
  return Object.fromEntries(Object.entries(imports).map(([module, hooks]) => [module, withContext(hooks)]));
}

function withContext(hooks: WebAssembly.ModuleImports): Record<string, ExtismFunction> {
  return Object.fromEntries(
    Object.entries(hooks).map(([name, hook]) => {
      const call = hook as (...args: unknown[]) => unknown;
      return [name, (_callContext: unknown, ...args: unknown[]) => call(...args)];
    }),
  );
}
