import { type ImportDescription, isInstrumented, type ModuleDescription } from '@tenon/instrument';
import {
  type Argument,
  missingImports,
  type Program,
  parseArgument,
  programKind,
  takesValue,
  usesExtism,
  whyNotCallable,
} from '@tenon/run-kit';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { count, printable } from '../text.ts';

/** What the command line says of the program. */
export interface ProgramChoice {
  readonly invoke?: string;
  readonly args: readonly string[];
  readonly stubImports?: boolean;
}

/** A program that can be run. */
export interface Prepared {
  readonly program: Program;
  readonly isInstrumented: boolean;
}

/**
 * Decides what to run, and checks that its imports are available.
 *
 * @throws CliError `usage` or `missing_imports`
 */
export function prepareProgram(module: ModuleDescription, choice: ProgramChoice): Prepared {
  const program = chooseProgram(module, choice);
  checkImports(module, choice.stubImports === true);
  return { program, isInstrumented: isInstrumented(module) };
}

function chooseProgram(module: ModuleDescription, { invoke, args }: ProgramChoice): Program {
  const exportName = invoke ?? '_start';
  const isPlugin = usesExtism(module.imports);
  const entry = module.exports.find(({ name, kind }) => name === exportName && kind === 'function');
  if (invoke === undefined && (entry === undefined || isPlugin)) {
    throw usageError(
      'The module is not a WASI command, which starts at _start. Name the export to call with --invoke.',
      listed('It exports', callable(module)),
    );
  }
  if (entry?.type === undefined) {
    throw usageError(
      `The module exports no function ${printable(exportName)}.`,
      listed('It exports', callable(module)),
    );
  }
  const { params, results } = entry.type;
  const kind = programKind(isPlugin, exportName, params);
  if (kind === 'command') return { kind, exportName, args: [] };
  if (kind === 'plugin' && args.length > 0) {
    throw usageError('A function of a plugin takes bytes and no arguments.', 'Pass them with --input or --input-file.');
  }
  const why = whyNotCallable(params, results);
  if (why !== undefined) throw usageError(`${printable(exportName)} can’t be called: ${why}`);
  return { kind, exportName, args: parseArguments(exportName, params, args) };
}

/** Parses the arguments of a call by the types of its parameters. @throws CliError `usage` */
export function parseArguments(name: string, params: readonly string[], texts: readonly string[]): Argument[] {
  const written = params.filter(takesValue);
  if (texts.length !== written.length) {
    const wanted =
      written.length === 0 ? 'no argument' : `${count(written.length, 'argument')} (${written.join(', ')})`;
    throw usageError(`${printable(name)} takes ${wanted}; got ${texts.length}.`, 'Write the arguments after "--".');
  }
  let position = 0;
  return params.map((type) => {
    if (!takesValue(type)) return null;
    const text = texts[position++] as string;
    const parsed = parseArgument(type, text);
    if ('value' in parsed) return parsed.value;
    throw usageError(`Argument ${position} is ${type}: expected ${parsed.expected}, got "${printable(text)}".`);
  });
}

/** The functions that a person may mean, without those that compilers add. */
function callable(module: ModuleDescription): readonly string[] {
  return module.exports.flatMap(({ name, kind, type }) =>
    kind === 'function' && !name.startsWith('__') ? [`${printable(name)}(${type?.params.join(', ') ?? ''})`] : [],
  );
}

const maxListed = 20;

function listed(opening: string, names: readonly string[]): string {
  return names.length === 0 ? `${opening} no function.` : `${opening} ${shortList(names)}.`;
}

function shortList(names: readonly string[]): string {
  const rest = names.length - maxListed;
  return `${names.slice(0, maxListed).join(', ')}${rest > 0 ? ` and ${count(rest, 'more', 'more')}` : ''}`;
}

/** @throws CliError `missing_imports` unless stubs may replace all missing imports */
function checkImports({ imports }: ModuleDescription, mayStub: boolean): void {
  const missing = missingImports(imports);
  const refused = mayStub ? missing.filter(({ kind }) => kind !== 'function' && kind !== 'memory') : missing;
  if (refused.length === 0) return;
  throw new CliError('missing_imports', `The module has missing imports: ${shortList(refused.map(nameOfImport))}.`, {
    exitCode: exitCodes.refused,
    hint: mayStub
      ? 'Only functions and memories can be stubbed.'
      : 'With --stub-imports, such functions do nothing and return zero.',
  });
}

function nameOfImport({ module, name, kind }: ImportDescription): string {
  return `${printable(`${module}.${name}`)}${kind === 'function' ? '' : ` (a ${kind})`}`;
}
