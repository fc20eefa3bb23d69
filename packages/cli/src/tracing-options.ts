import { InstrumentError, type InstrumentOptions, parseConfig } from '@tenon/instrument';
import { type Command, Option } from 'commander';
import { collect, parseCount } from './command.ts';
import { CliError, usageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { readInput, standardStream } from './files.ts';
import type { Io } from './io.ts';

/** The options that select functions to trace. */
export interface TracingFlags {
  readonly allowed?: string[];
  readonly allowedFile?: string;
  readonly banned?: string[];
  readonly bannedFile?: string;
  readonly config?: string;
  readonly patterns?: boolean;
  readonly exceptionHandling?: 'legacy' | 'exnref';
  readonly reachableFrom?: string[];
  readonly minBytes?: number;
  readonly sourceFiles?: string[];
  readonly namespaces?: string[];
  readonly every?: number;
  readonly memory?: boolean;
  readonly allocators?: string[];
}

/** Adds the options that choose what is traced and how. */
export function withTracing(command: Command): Command {
  const isAllowed = ['allowed', 'allowedFile'];
  const isBanned = ['banned', 'bannedFile'];
  const names = 'names between commas; may be given again';
  const nameFile = 'the same from a file: one name per line, # starts a comment; "-" reads stdin';
  return command
    .optionsGroup('What is traced (default: every function):')
    .addOption(
      new Option('--allowed <names>', `trace these functions alone; ${names}`)
        .argParser(collect)
        .conflicts([...isBanned, 'config']),
    )
    .addOption(new Option('--allowed-file <file>', nameFile).conflicts([...isBanned, 'config']))
    .addOption(
      new Option('--banned <names>', `trace all but these functions; ${names}`)
        .argParser(collect)
        .conflicts([...isAllowed, 'config']),
    )
    .addOption(new Option('--banned-file <file>', nameFile).conflicts([...isAllowed, 'config']))
    .option('--config <file>', 'the same as JSON: {"allowed": […]} or {"banned": […]}; "-" reads stdin')
    .option('--patterns', 'the names are patterns: * matches any characters, ? one character, \\* a *')
    .addOption(
      new Option(
        '--exception-handling <generation>',
        'the exception handling that the engine expects, for a module that throws and never catches (default: exnref)',
      ).choices(['legacy', 'exnref']),
    )
    .addOption(
      new Option('--reachable-from <exports>', 'of those, only what these exported functions can call').argParser(
        collect,
      ),
    )
    .addOption(new Option('--min-bytes <n>', 'of those, only functions of at least n bytes').argParser(parseCount))
    .addOption(
      new Option(
        '--source-files <patterns>',
        'of those, only functions from these source files, such as src/*',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--namespaces <patterns>',
        'of those, only functions of these crates, namespaces, or packages',
      ).argParser(collect),
    )
    .addOption(new Option('--every <n>', 'of the calls of each function, only one in n').argParser(parseCount))
    .option('--memory', 'also trace allocators, such as malloc and free: sizes and pointers')
    .addOption(
      new Option(
        '--allocators <names>',
        'the same with these allocators: malloc, or pool_get=malloc for another name',
      ).argParser(collect),
    );
}

/** Checks that at most one input is stdin. */
export function assertOneFromStdin(input: string, flags: TracingFlags): void {
  const sources = [input, flags.allowedFile, flags.bannedFile, flags.config];
  if (sources.filter((source) => source === standardStream).length > 1) {
    throw usageError('The module and what is traced of it can not both come from stdin.');
  }
}

/** @throws CliError `invalid_config`, or when a file can't be read */
export async function readTracingOptions(io: Io, flags: TracingFlags): Promise<InstrumentOptions> {
  const { patterns, exceptionHandling, reachableFrom, minBytes, sourceFiles, namespaces, memory, allocators } = flags;
  const selection = { reachableFrom, minBytes, sourceFiles, namespaces, every: flags.every };
  return { ...(await readLists(io, flags)), patterns, exceptionHandling, ...selection, memory: allocators ?? memory };
}

async function readLists(io: Io, flags: TracingFlags): Promise<InstrumentOptions> {
  const { allowed, allowedFile, banned, bannedFile, config } = flags;
  if (config !== undefined) {
    const text = new TextDecoder().decode(await readInput(io, config, 'the configuration'));
    return refusing(() => parseConfig(text));
  }
  if (allowed !== undefined || allowedFile !== undefined) {
    return { allowed: [...(allowed ?? []), ...(await readNames(io, allowedFile))] };
  }
  if (banned !== undefined || bannedFile !== undefined) {
    return { banned: [...(banned ?? []), ...(await readNames(io, bannedFile))] };
  }
  return {};
}

async function readNames(io: Io, file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  return parseNames(new TextDecoder().decode(await readInput(io, file, 'the names')));
}

/** Names from a text: one a line, without the space around them. What begins with `#` is a comment. */
export function parseNames(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Turns what the instrumenter refuses into an error of the command line, with the same code. */
export function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InstrumentError)) throw error;
    throw new CliError(error.code, error.message, { exitCode: exitCodes.refused, cause: error });
  }
}
