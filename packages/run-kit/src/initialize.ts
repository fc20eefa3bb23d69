import { RunFailure } from './ending.ts';

/**
 * Initialises an instance as Extism's hosts do: a reactor's `_initialize`, or the constructors of a module that has none,
 * then Haskell's runtime. An export that is called anyway is left out. https://github.com/WebAssembly/WASI/blob/main/legacy/application-abi.md
 */
export function initialize(exports: WebAssembly.Exports, exportName: string): void {
  const constructors = ['_initialize', '__wasm_call_ctors'].find((name) => typeof exports[name] === 'function');
  if (constructors !== undefined && constructors !== exportName) functionOf(exports, constructors)();
  if (exports.hs_init !== undefined && exportName !== 'hs_init') functionOf(exports, 'hs_init')(0, 0);
}

/** @throws RunFailure if there is no such function */
export function functionOf(exports: WebAssembly.Exports, name: string): (...args: unknown[]) => unknown {
  const found = exports[name];
  if (typeof found !== 'function') throw new RunFailure(`The module exports no function ${name}`);
  return found as (...args: unknown[]) => unknown;
}
