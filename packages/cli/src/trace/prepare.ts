import { describeModule, type ModuleDescription } from '@tenon/instrument';
import { refusing } from '../tracing-options.ts';
import { extismFunctions } from './extism-host.ts';
import { chooseProgram, extismModule, findStubs, type Program, type Stub, wasiModules } from './program.ts';
import { loadWasi, quietly } from './wasi-host.ts';

/** A program that can be run. */
export interface Prepared {
  readonly program: Program;
  readonly stubs: readonly Stub[];
  /** Whether it reports its calls already. */
  readonly isInstrumented: boolean;
}

export interface PrepareOptions {
  readonly invoke?: string;
  readonly args: readonly string[];
  readonly stubImports?: boolean;
}

/**
 * Looks at a module: what is to be run of it, and whether it gets here what it imports.
 *
 * @throws CliError `usage`, `missing_imports`, or what the instrumenter refuses
 */
export async function prepareProgram(bytes: Uint8Array, options: PrepareOptions): Promise<Prepared> {
  const module = refusing(() => describeModule(bytes));
  const program = chooseProgram(module, { invoke: options.invoke, args: options.args });
  const stubs = findStubs(module, await offeredFunctions(), options.stubImports === true);
  return { program, stubs, isInstrumented: isInstrumented(module) };
}

/** Whether a module reports its calls: it imports one of the interfaces of dylibso:observe. */
export function isInstrumented({ imports }: Pick<ModuleDescription, 'imports'>): boolean {
  return imports.some(
    ({ module: from, name }) =>
      from === 'dylibso:observe/instrument' || (from === 'dylibso_observe' && name.startsWith('instrument_')),
  );
}

async function offeredFunctions(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const Wasi = await loadWasi();
  const wasi = new Set(Object.keys(quietly(() => new Wasi({ version: 'preview1' }).wasiImport)));
  return new Map([
    [extismModule, new Set(extismFunctions)],
    ...wasiModules.map((name): [string, ReadonlySet<string>] => [name, wasi]),
  ]);
}
