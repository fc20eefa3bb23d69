import assert from 'node:assert/strict';
import { encode } from '../../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../../test/helpers/call-trees/make-program.ts';
import { createModel, type Event, type Outcome, TooLong } from '../../../../test/helpers/call-trees/model.ts';
import {
  describeValue,
  type ImportedFunction,
  type Program,
  type ResultType,
  resultLists,
  resultsOf,
  thrownPayload,
} from '../../../../test/helpers/call-trees/program.ts';
import { type InstrumentReport, instrument } from '../../src/index.ts';
import { hintedOpcodes } from './branch-hints.ts';

/** What one program showed. */
export interface Tally {
  readonly calls: number;
  readonly events: number;
}

const maxSteps = 3_000;
const hookModule = 'dylibso:observe/instrument';

/**
 * Makes the program of a seed, and has it run three times: by the model, by the engine as it is, and by the engine
 * instrumented. All must end alike, and the events must be the model's, one by one.
 */
export function checkCallTree(seed: number): Tally {
  const program = makeProgram(seed);
  const input = encode(program, seed);
  const { expected, calls } = runModel(program);
  const plain = runModule(program, input, calls);
  assert.deepEqual(plain.outcomes, expected.outcomes, `seed ${seed}: the model and the engine end alike`);
  const { bytes, report } = instrument(input, {
    banned: bannedNames(program),
    exceptionHandling: seed & 1 ? 'exnref' : 'legacy',
  });
  const { length: importCount } = program.imports;
  assert.deepEqual(
    hintedOpcodes(bytes, importCount + report.addedImports.length),
    hintedOpcodes(input, importCount),
    `seed ${seed}: branch hints speak of the same instructions`,
  );
  const traced = runModule(program, bytes, calls, report);
  assert.deepEqual(traced.outcomes, expected.outcomes, `seed ${seed}: the instrumented module ends as the original`);
  assert.deepEqual(traced.events, expected.events, `seed ${seed}: the events are those of the model`);
  return { calls: calls.length, events: expected.events.length };
}

interface Run {
  readonly outcomes: (Outcome | undefined)[];
  readonly events: Event[];
}
type Call = readonly [index: number, fuel: number];

/** As many calls from the host as fit the steps: each export, with more and more fuel. */
function runModel(program: Program): { expected: Run; calls: Call[] } {
  const model = createModel(program, maxSteps);
  const expected: Run = { outcomes: [], events: [] };
  const calls: Call[] = [];
  const perform = (action: () => Outcome | undefined): boolean => {
    try {
      const outcome = action();
      expected.outcomes.push(outcome);
      expected.events.push(...model.takeEvents());
      return true;
    } catch (error) {
      if (error instanceof TooLong) return false;
      throw error;
    }
  };
  if (!perform(model.start) || expected.outcomes[0] !== undefined) return { expected, calls };
  for (let fuel = 0; fuel < 4; fuel++) {
    for (let index = program.imports.length; index < program.imports.length + program.functions.length; index++) {
      if (!perform(() => model.call(index, fuel))) return { expected, calls };
      calls.push([index, fuel]);
    }
  }
  return { expected, calls };
}

function bannedNames({ traced, imports, functions }: Program): string[] {
  const isBoot = (index: number) => index === imports.length + functions.length;
  return traced.flatMap((isTraced, index) => (isTraced ? [] : [isBoot(index) ? 'boot' : `f${index}`]));
}

type JsFunction = (...args: unknown[]) => unknown;

/** `report` is that of the instrumented module; without it the module is the original. */
function runModule(program: Program, bytes: Uint8Array, calls: readonly Call[], report?: InstrumentReport): Run {
  const events: Event[] = [];
  const outcomes: (Outcome | undefined)[] = [];
  const { imports, memories } = program;
  const inputIndex = (index: number) => (index < imports.length ? index : index - (report?.addedImports.length ?? 0));
  const hooks = {
    enter: (index: number) => events.push(`enter ${inputIndex(index)}`),
    exit: (index: number) => events.push(`exit ${inputIndex(index)}`),
    'memory-grow': (pages: number) => events.push(`grow ${pages}`),
  };
  let exports: WebAssembly.Exports | undefined;
  const env: Record<string, WebAssembly.ImportValue> = {};
  memories.forEach((memory, index) => {
    if (memory.visibility === 'imported') env[`m${index}`] = makeMemory(memory);
  });
  imports.forEach((entry, index) => {
    env[`h${index}`] = (fuel: number) => {
      runHost(entry, fuel, exports, env);
      const types = resultLists[entry.results] as readonly ResultType[];
      const results = types.map((type, place) => hostValue(type, entry.values[place] as number));
      return results.length > 1 ? results : results[0];
    };
  });
  const attempt = (action: () => Outcome | undefined) => {
    try {
      outcomes.push(action());
    } catch (error) {
      outcomes.push(describeFailure(error, exports));
    }
  };
  attempt(() => {
    const module = new WebAssembly.Module(new Uint8Array(bytes));
    exports = new WebAssembly.Instance(module, { env, [hookModule]: hooks }).exports;
    return undefined;
  });
  for (const [index, fuel] of calls) {
    const call = exports?.[`f${index}`] as JsFunction;
    attempt(() => describeResults(resultsOf(program, index), call(fuel)));
  }
  return { outcomes, events };
}

/** The declarations know no memory of 64-bit addresses. */
type Growable = { grow: (pages: number | bigint) => unknown };

function makeMemory({ initial, maximum, is64, isShared }: Program['memories'][number]): WebAssembly.Memory {
  const limit = (pages: number | undefined) => (is64 && pages !== undefined ? BigInt(pages) : pages);
  const descriptor = { address: is64 ? 'i64' : 'i32', initial: limit(initial), shared: isShared };
  const withMaximum = maximum === undefined ? descriptor : { ...descriptor, maximum: limit(maximum) };
  return new WebAssembly.Memory(withMaximum as unknown as WebAssembly.MemoryDescriptor);
}

function runHost(
  { actions }: ImportedFunction,
  fuel: number,
  exports: WebAssembly.Exports | undefined,
  env: Record<string, WebAssembly.ImportValue>,
): void {
  for (const action of actions) {
    if (action.act === 'throw') {
      const tag = exports?.[`t${action.tag}`] as WebAssembly.Tag | undefined;
      throw tag === undefined
        ? new Error('from the host')
        : new WebAssembly.Exception(tag, action.tag === 0 ? [thrownPayload] : []);
    }
    if (exports === undefined) continue;
    if (action.act === 'grow') {
      growMemory((env[`m${action.memory}`] ?? exports[`m${action.memory}`]) as unknown as Growable, action.pages);
    } else if (fuel > 0) {
      enterAgain(exports[`f${action.target}`] as JsFunction, fuel - 1, action.catches);
    }
  }
}

function enterAgain(target: JsFunction, fuel: number, catches: boolean): void {
  try {
    target(fuel);
  } catch (error) {
    if (!catches) throw error;
  }
}

function growMemory(memory: Growable, pages: number): void {
  for (const amount of [pages, BigInt(pages)]) {
    try {
      memory.grow(amount);
      return;
    } catch (error) {
      // A memory of 64-bit addresses takes a bigint and nothing else; one that is full throws a RangeError.
      if (!(error instanceof TypeError)) return;
    }
  }
}

function hostValue(type: ResultType, value: number): unknown {
  if (type === 'i64') return BigInt(value);
  return type === 'funcref' ? null : value;
}

function describeFailure(error: unknown, exports: WebAssembly.Exports | undefined): Outcome {
  if (error instanceof WebAssembly.CompileError || error instanceof WebAssembly.LinkError) throw error;
  if (error instanceof WebAssembly.RuntimeError) return 'trap';
  if (exports === undefined) return 'thrown';
  if (!(error instanceof WebAssembly.Exception))
    return `thrown ${(error as Error).message === 'from the host' ? 'host' : error}`;
  const tags = [0, 1].filter((tag) => error.is(exports[`t${tag}`] as WebAssembly.Tag));
  return `thrown ${tags.join()}`;
}

function describeResults(types: readonly ResultType[], results: unknown): Outcome {
  const list = types.length > 1 ? (results as unknown[]) : [results];
  return types.map((type, place) => describeValue(type, list[place])).join();
}
