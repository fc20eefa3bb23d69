import { type CallNode, createModel, type Event, type Outcome, TooLong } from './model.ts';
import {
  describeValue,
  type ImportedFunction,
  type Program,
  type ResultType,
  resultLists,
  resultsOf,
  thrownPayload,
} from './program.ts';

/** A call from the host: an own function's index in the input, and its fuel. */
export type Call = readonly [index: number, fuel: number];

/** What a program does by its meaning: first of all when it is instantiated, then in each call. */
export interface Prediction {
  readonly outcomes: readonly (Outcome | undefined)[];
  readonly events: readonly Event[];
  /** Per outcome the calls that lay within no other. */
  readonly roots: readonly (readonly CallNode[])[];
  readonly calls: readonly Call[];
}

/** As many calls from the host as fit the steps: each export, with more and more fuel, up to a limit. */
export function predict(program: Program, maxSteps: number, maxFuel = 3): Prediction {
  const model = createModel(program, maxSteps);
  const outcomes: (Outcome | undefined)[] = [];
  const events: Event[] = [];
  const roots: CallNode[][] = [];
  const calls: Call[] = [];
  const prediction = { outcomes, events, roots, calls };
  const perform = (action: () => Outcome | undefined): boolean => {
    try {
      outcomes.push(action());
      events.push(...model.takeEvents());
      roots.push(model.takeRoots());
      return true;
    } catch (error) {
      if (error instanceof TooLong) return false;
      throw error;
    }
  };
  if (!perform(model.start) || outcomes[0] !== undefined) return prediction;
  for (let fuel = 0; fuel <= maxFuel; fuel++) {
    for (let index = program.imports.length; index < program.imports.length + program.functions.length; index++) {
      if (!perform(() => model.call(index, fuel))) return prediction;
      calls.push([index, fuel]);
    }
  }
  return prediction;
}

/** The names by which `instrument` leaves out what the program says is not traced. */
export function untracedNames({ traced, imports, functions }: Program): string[] {
  const isBoot = (index: number) => index === imports.length + functions.length;
  return traced.flatMap((isTraced, index) => (isTraced ? [] : [isBoot(index) ? 'boot' : `f${index}`]));
}

type JsFunction = (...args: unknown[]) => unknown;

/**
 * Has the engine run a module that was encoded from the program, and returns how instantiation and each of the calls end.
 * `instantiate` is handed the imports that the program itself declares, and returns the exports that are to be called.
 */
export function runProgram(...run: Parameters<typeof programSteps>): (Outcome | undefined)[] {
  const steps = programSteps(...run);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
  }
}

/** The same, with a stop after instantiation and after each of the calls. */
export function* programSteps(
  program: Program,
  calls: readonly Call[],
  instantiate: (imports: WebAssembly.Imports) => WebAssembly.Exports,
): Generator<undefined, (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = [];
  let exports: WebAssembly.Exports | undefined;
  const env: Record<string, WebAssembly.ImportValue> = {};
  program.memories.forEach((memory, index) => {
    if (memory.visibility === 'imported') env[`m${index}`] = makeMemory(memory);
  });
  program.imports.forEach((entry, index) => {
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
    exports = instantiate({ env });
    return undefined;
  });
  yield;
  for (const [index, fuel] of calls) {
    const call = exports?.[`f${index}`] as JsFunction;
    attempt(() => describeResults(resultsOf(program, index), call(fuel)));
    yield;
  }
  return outcomes;
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
