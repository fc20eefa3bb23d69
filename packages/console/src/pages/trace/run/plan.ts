import type { CallableExport, ModuleFacts } from '../look/open-module.ts';
import { isWritten, readArgument, whyNotCallable } from './arguments.ts';
import { extismModule } from './extism.ts';
import { readVariables, shellWords } from './shell-words.ts';
import type { MissingRule } from './stand-ins.ts';
import type { RunOrder } from './use-run.ts';
import { wasiModules } from './wasi.ts';

/** What somebody has filled in. */
export interface Plan {
  readonly exportName: string;
  /** For each parameter that takes a value, by its position. */
  readonly args: ReadonlyMap<number, string>;
  readonly programArgs: string;
  readonly env: string;
  readonly input: string;
  readonly missing: MissingRule;
  /** Microseconds. */
  readonly minDuration: string;
}

/** What a module is made for, by what it imports. */
export interface Surroundings {
  readonly isWasi: boolean;
  readonly isExtism: boolean;
  /** Where it imports from what nobody here knows. */
  readonly unknown: readonly string[];
}

/** What the adapter gives. */
const observeModules = ['dylibso:observe/instrument', 'dylibso:observe/api', 'dylibso_observe'];

export function surroundingsOf({ imports }: ModuleFacts): Surroundings {
  const names = imports.map(({ module }) => module);
  const known = [...wasiModules, extismModule, ...observeModules];
  return {
    isWasi: wasiModules.some((name) => names.includes(name)),
    isExtism: names.includes(extismModule),
    unknown: names.filter((name) => !known.includes(name)),
  };
}

/** Names of functions that are there for hosts and linkers, not to be tried first. */
const internal = /^(?:_|malloc$|free$|alloc$|dealloc$|stack|emscripten_|asyncify_)/;

/** What to begin with: a program's entry, else the first export that looks as if somebody had meant it to be called. */
export function firstPlan({ exports }: ModuleFacts): Plan {
  const callable = exports.filter(({ params, results }) => whyNotCallable(params, results) === undefined);
  const entry =
    callable.find(({ name }) => name === '_start') ?? callable.find(({ name }) => !internal.test(name)) ?? callable[0];
  return {
    exportName: entry?.name ?? exports[0]?.name ?? '',
    args: new Map(),
    programArgs: '',
    env: '',
    input: '',
    missing: 'fail',
    minDuration: '20',
  };
}

/** What is wrong with a plan, by field: `arg 0`, `minDuration`, `export`. */
export type PlanFaults = ReadonlyMap<string, string>;

/** Reads a plan; what is wrong with it, where it can't be carried out. */
export function readPlan(
  plan: Plan,
  entry: CallableExport | undefined,
  rest: Pick<RunOrder, 'bytes' | 'isInstrumented' | 'options' | 'fileName' | 'demangler'>,
): { readonly order: RunOrder } | { readonly faults: PlanFaults } {
  const faults = new Map<string, string>();
  if (entry === undefined) return { faults: new Map([['export', 'It exports no function.']]) };
  const why = whyNotCallable(entry.params, entry.results);
  if (why !== undefined) faults.set('export', why);
  const args = entry.params.map((type, at) => {
    const read = isWritten(type) ? readArgument(type, plan.args.get(at) ?? '') : { value: null };
    if ('value' in read) return read.value;
    faults.set(`arg ${at}`, read.fault);
    return null;
  });
  const minDurationMicroseconds = Number(plan.minDuration);
  if (plan.minDuration.trim() === '' || !(minDurationMicroseconds >= 0)) {
    faults.set('minDuration', 'Microseconds: 0 or more.');
  }
  if (faults.size > 0) return { faults };
  const { input, missing } = plan;
  const [programArgs, env] = [shellWords(plan.programArgs), readVariables(plan.env)];
  const order = { ...rest, exportName: entry.name, args, programArgs, env, input, missing, minDurationMicroseconds };
  return { order };
}
