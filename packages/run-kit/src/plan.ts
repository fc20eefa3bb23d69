import {
  isTracingModule,
  kernelFunctions,
  kernelModule,
  olderKernelFunctions,
  olderModule,
  userModule,
  wasiFunctions,
} from '@tenon/extension-schema/host-imports';
import type { ImportDescription } from '@tenon/instrument';
import type { Argument } from './arguments.ts';
import { type WasiModule, wasiModules } from './wasi-interface.ts';

/**
 * What to run: `_start` of a WASI command, an export of an Extism plugin with bytes, or any other function with values.
 */
export interface Program {
  readonly kind: 'command' | 'plugin' | 'function';
  readonly exportName: string;
  /** For a function. */
  readonly args: readonly Argument[];
}

type Imports = readonly Pick<ImportDescription, 'module' | 'name'>[];

export function programKind(isPlugin: boolean, exportName: string, params: readonly string[]): Program['kind'] {
  if (isPlugin) return params.length === 0 ? 'plugin' : 'function';
  return exportName === '_start' ? 'command' : 'function';
}

const older = new Set(olderKernelFunctions);

export function usesExtism(imports: Imports): boolean {
  return imports.some(
    ({ module, name }) =>
      module === kernelModule || module === userModule || (module === olderModule && older.has(name)),
  );
}

export function usesWasi(imports: Imports): boolean {
  return imports.some(({ module }) => isWasiModule(module));
}

function isWasiModule(module: string): module is WasiModule {
  return wasiModules.some((name) => name === module);
}

const kernel = new Set<string>(kernelFunctions);
const wasi = new Set(wasiFunctions);

/** Returns the imports that neither Extism's host functions, nor WASI, tracing or the engine provide. */
export function missingImports<Import extends Imports[number]>(imports: readonly Import[]): Import[] {
  return imports.filter(({ module, name }) => {
    if (module === kernelModule) return !kernel.has(name);
    if (module === olderModule) return !older.has(name);
    if (isWasiModule(module)) return !wasi.has(name);
    return !isTracingModule(module) && !module.startsWith('wasm:');
  });
}
