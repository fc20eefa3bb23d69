import { availableParallelism } from 'node:os';
import process from 'node:process';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type CaseName, caseNames } from './cases.ts';
import { type StoreName, storeNames } from './stores.ts';

/** What a person wants measured. */
export interface BenchOptions {
  readonly cases: readonly CaseName[];
  readonly stores: readonly StoreName[];
  /** How many nodes the set-ups have. */
  readonly nodes: readonly number[];
  /** How many processes the node of a further set-up has. */
  readonly workers: readonly number[];
  readonly rounds: number;
  readonly secondsARound: number;
  /** Processes of the load generator. */
  readonly generators: number;
  readonly isJson: boolean;
}

/** Thrown for options that can't be read; the message is for the user. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
  readonly code = 'invalid_option';
}

/** Says why nothing was measured, and has the process end with 2 for options that can't be read, else with 1. */
export function tellFailure(error: unknown): void {
  console.error(error instanceof OptionError ? `${error.message}\nSee --help.` : error);
  process.exitCode = error instanceof OptionError ? 2 : 1;
}

const specification = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true },
  store: { type: 'string', multiple: true },
  nodes: { type: 'string', default: '2' },
  workers: { type: 'string', default: '2' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  generators: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export const help = `How many requests a second the server answers, beside a bare node:http server.

  --quick           shorter rounds, and fewer of them: about two minutes for all
  --only <case>     one case, or several with commas or as often as you like:
                    ${caseNames.join(', ')}
  --store <store>   ${storeNames.join(' or ')} alone
  --nodes <n>       one node and so many; 2 without it, 1 for one alone
  --workers <n>     one node of so many processes besides, on the embedded store; 2 without it, 1 for none such
  --rounds <n>      rounds that count; 3 without it
  --seconds <n>     how long a round lasts; 2 without it
  --generators <n>  processes that make the load; one for each four cores without it
  --json            one JSON document on standard output, and no tables
`;

/**
 * Reads the command line.
 *
 * @returns `'help'` where that is asked for
 * @throws OptionError
 */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const values = parse(args, specification);
  if (values.help) return 'help';
  const nodes = readCount('--nodes', values.nodes);
  const workers = readCount('--workers', values.workers);
  return {
    cases: choose('--only', values.only, caseNames),
    stores: choose('--store', values.store, storeNames),
    nodes: nodes === 1 ? [1] : [1, nodes],
    workers: workers === 1 ? [] : [workers],
    rounds: readCount('--rounds', values.rounds ?? (values.quick ? '2' : '3')),
    secondsARound: readSeconds(values.seconds ?? (values.quick ? '0.5' : '2')),
    generators: readCount('--generators', values.generators ?? String(Math.ceil(availableParallelism() / 4))),
    isJson: values.json,
  };
}

/** @throws OptionError for what the options don't have */
export function parse<Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Those of the known names that were given, in the order in which they are known; all where none was. */
export function choose<Name extends string>(
  option: string,
  given: readonly string[] | undefined,
  known: readonly Name[],
): Name[] {
  const names = (given ?? []).flatMap((text) => text.split(','));
  const unknown = names.find((name) => !known.some((one) => one === name));
  if (unknown !== undefined) throw new OptionError(`${option} "${unknown}": expected ${known.join(', ')}`);
  return names.length === 0 ? [...known] : known.filter((name) => names.includes(name));
}

export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > 64) {
    throw new OptionError(`${option} "${text}": expected a whole number from 1 to 64`);
  }
  return count;
}

export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 600)) throw new OptionError(`--seconds "${text}": expected a number up to 600`);
  return seconds;
}
