import type { ImportDescription, MemoryDescription, ModuleDescription } from '@tenon/instrument';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { count, printable } from '../text.ts';
import { type CallArgument, parseArguments } from './call-arguments.ts';

/**
 * What is run of a module: a command of WASI from its `_start`; a function of any other module, with numbers; or a function of an
 * Extism plugin, with bytes.
 */
export type Program =
  | { readonly kind: 'command'; readonly args: readonly string[] }
  | { readonly kind: 'function'; readonly invoke: string; readonly args: readonly CallArgument[] }
  | { readonly kind: 'plugin'; readonly invoke: string };

export const extismModule = 'extism:host/env';
/** Both are of preview 1 but for a few types; Node.js has both. */
export const wasiModules = ['wasi_snapshot_preview1', 'wasi_unstable'] as const;
const observeModules = ['dylibso:observe/instrument', 'dylibso:observe/api', 'dylibso_observe'];

/** What the command line says of it. */
export interface ProgramChoice {
  readonly invoke: string | undefined;
  readonly args: readonly string[];
}

/**
 * Finds out what is to be run.
 *
 * @throws CliError `usage` when that takes another export, or other arguments, which it names
 */
export function chooseProgram(module: ModuleDescription, { invoke, args }: ProgramChoice): Program {
  const isPlugin = module.imports.some((entry) => entry.module === extismModule);
  if (invoke === undefined) {
    const start = module.exports.find(({ name, kind }) => name === '_start' && kind === 'function');
    if (start !== undefined && !isPlugin) return { kind: 'command', args };
    throw usageError(
      `The module is no command, which would begin at _start. Name the export to call with --invoke.`,
      listed('It exports', callable(module)),
    );
  }
  const called = module.exports.find(({ name, kind }) => name === invoke && kind === 'function');
  if (called?.type === undefined) {
    throw usageError(`The module exports no function ${printable(invoke)}.`, listed('It exports', callable(module)));
  }
  if (isPlugin && called.type.params.length === 0) {
    if (args.length > 0) {
      throw usageError(
        `A function of a plugin takes bytes and no arguments.`,
        'Hand them in with --input or --input-file.',
      );
    }
    return { kind: 'plugin', invoke };
  }
  return { kind: 'function', invoke, args: parseArguments(invoke, called.type.params, args) };
}

/** The functions that a person may mean, without those that compilers add. */
function callable(module: ModuleDescription): readonly string[] {
  return module.exports.flatMap(({ name, kind, type }) =>
    kind === 'function' && !name.startsWith('__') ? [`${printable(name)}(${type?.params.join(', ') ?? ''})`] : [],
  );
}

const maxListed = 20;

function listed(opening: string, names: readonly string[]): string {
  if (names.length === 0) return `${opening} no function.`;
  const rest = names.length - maxListed;
  return `${opening} ${names.slice(0, maxListed).join(', ')}${rest > 0 ? ` and ${count(rest, 'more', 'more')}` : ''}.`;
}

/** What replaces a missing import: a function that answers zero, or a memory. */
export type Stub =
  | { readonly kind: 'function'; readonly module: string; readonly name: string; readonly results: readonly string[] }
  | { readonly kind: 'memory'; readonly module: string; readonly name: string; readonly memory: MemoryDescription };

/**
 * Finds the imports that are missing here.
 *
 * @param offered the functions of WASI and Extism, by module
 * @returns what may stand in their place, if `mayStub` says so
 * @throws CliError `missing_imports`
 */
export function findStubs(
  module: ModuleDescription,
  offered: ReadonlyMap<string, ReadonlySet<string>>,
  mayStub: boolean,
): readonly Stub[] {
  const missing = module.imports.filter(
    ({ module: from, name }) =>
      !offered.get(from)?.has(name) && !observeModules.includes(from) && !from.startsWith('wasm:'),
  );
  const stubs = missing.map((entry) => stubFor(module, entry));
  const others = missing.filter((_, at) => stubs[at] === undefined);
  if (missing.length === 0 || (mayStub && others.length === 0)) return stubs.filter((stub) => stub !== undefined);
  const names = (mayStub ? others : missing).map(nameOfImport);
  throw new CliError('missing_imports', `The module has missing imports: ${shownNames(names)}.`, {
    exitCode: exitCodes.refused,
    hint: mayStub
      ? 'Only functions and memories can be stubbed.'
      : 'With --stub-imports such functions do nothing and answer zero.',
  });
}

function stubFor(module: ModuleDescription, entry: ImportDescription): Stub | undefined {
  const { module: from, name, kind, type } = entry;
  if (kind === 'function') return { kind, module: from, name, results: type?.results ?? [] };
  if (kind !== 'memory') return undefined;
  // Imported memories come first in the memory index space.
  const memory = module.memories[module.imports.filter((other) => other.kind === 'memory').indexOf(entry)];
  return memory && { kind, module: from, name, memory };
}

function shownNames(names: readonly string[]): string {
  const rest = names.length - maxListed;
  return rest > 0 ? `${names.slice(0, maxListed).join(', ')} and ${count(rest, 'more', 'more')}` : names.join(', ');
}

function nameOfImport({ module, name, kind }: ImportDescription): string {
  return `${printable(`${module}.${name}`)}${kind === 'function' ? '' : ` (a ${kind})`}`;
}
