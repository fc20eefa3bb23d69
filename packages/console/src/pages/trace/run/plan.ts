import {
  type Argument,
  type MissingRule,
  parseArgument,
  programKind,
  takesValue,
  whyNotCallable,
} from '@tenon/run-kit';
import type { CallableExport, ModuleFacts } from '../inspect/open-module.ts';
import { readVariables, shellWords } from './shell-words.ts';
import type { RunOrder } from './use-run.ts';

/** The fields of the form. */
export interface Plan {
  readonly exportName: string;
  /** Arguments by the position of their parameter. */
  readonly args: ReadonlyMap<number, string>;
  readonly programArgs: string;
  readonly env: string;
  readonly input: string;
  readonly config: string;
  readonly missing: MissingRule;
  /** Microseconds. */
  readonly minDuration: string;
}

/** Names of functions for hosts and linkers. */
const internal = /^(?:_|malloc$|free$|alloc$|dealloc$|stack|emscripten_|asyncify_)/;

/** Selects a program's entry, or the first export that looks like one for callers. */
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
    config: '',
    missing: 'trap',
    minDuration: '20',
  };
}

/** Errors by field: `export`, `arg 0`, `minDuration`. */
export type PlanFaults = ReadonlyMap<string, string>;

type Prepared = Pick<RunOrder, 'bytes' | 'isInstrumented' | 'options' | 'fileName' | 'demangler'>;

/** Turns a plan into a request for a run, or lists what is wrong with it. */
export function readPlan(
  plan: Plan,
  { exports, usesExtism }: Pick<ModuleFacts, 'exports' | 'usesExtism'>,
  prepared: Prepared,
): { readonly order: RunOrder } | { readonly faults: PlanFaults } {
  const faults = new Map<string, string>();
  const entry = exports.find(({ name }) => name === plan.exportName);
  if (entry === undefined) return { faults: new Map([['export', 'The module exports no function.']]) };
  const why = whyNotCallable(entry.params, entry.results);
  if (why !== undefined) faults.set('export', why);
  const args = readArguments(entry, plan, faults);
  const minDurationMicroseconds = Number(plan.minDuration);
  if (plan.minDuration.trim() === '' || !(minDurationMicroseconds >= 0)) {
    faults.set('minDuration', 'Enter microseconds: 0 or more.');
  }
  if (faults.size > 0) return { faults };
  const order = {
    ...prepared,
    program: { kind: programKind(usesExtism, entry.name, entry.params), exportName: entry.name, args },
    resultTypes: entry.results,
    programArgs: shellWords(plan.programArgs),
    environment: Object.fromEntries(readVariables(plan.env)),
    input: plan.input,
    pluginConfig: new Map(readVariables(plan.config)),
    missing: plan.missing,
    minDurationMicroseconds,
  };
  return { order };
}

function readArguments({ params }: CallableExport, plan: Plan, faults: Map<string, string>): Argument[] {
  return params.map((type, at) => {
    const parsed = takesValue(type) ? parseArgument(type, plan.args.get(at) ?? '') : { value: null };
    if ('value' in parsed) return parsed.value;
    faults.set(`arg ${at}`, `Enter ${parsed.expected}.`);
    return null;
  });
}
