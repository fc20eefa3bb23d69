import { createRandom, type Random } from '../random.ts';
import {
  callPaths,
  type Exit,
  type HostAction,
  type ImportedFunction,
  importableResultLists,
  type MemoryPlan,
  type OwnFunction,
  type Program,
  type ResultList,
  type ResultType,
  resultLists,
  type Statement,
  type Trap,
  tagCount,
  type ValueExit,
  type Values,
} from './program.ts';

/** Makes a program; the same seed always makes the same one. */
export function makeProgram(seed: number): Program {
  const random = createRandom(seed);
  const generation = random.pick(['none', 'tags', 'legacy', 'legacy', 'exnref', 'exnref'] as const);
  const importLists = Array.from({ length: random.below(4) }, () => random.below(importableResultLists));
  // Type 0 must be some function's: references to it are results.
  const ownLists = [0, ...Array.from({ length: 1 + random.below(7) }, () => random.below(resultLists.length))];
  const memories = makeMemories(random);
  const context: Context = {
    random,
    generation,
    lists: [...importLists, ...ownLists],
    importCount: importLists.length,
    memoryCount: memories.length,
  };
  const isTracedPercent = random.pick([100, 100, 100, 60]);
  const count = context.lists.length;
  return {
    generation,
    imports: importLists.map((results) => makeImport(context, memories, results)),
    functions: ownLists.map((results) => makeFunction(context, results)),
    memories,
    start: random.chance(0.2) ? { target: random.below(count), fuel: 1 + random.below(3) } : undefined,
    traced: Array.from({ length: count + 1 }, () => random.chance(isTracedPercent / 100)),
    paddedPercent: random.pick([0, 0, 10, 50]),
    hasCustomSections: random.chance(0.3),
    hasBranchHints: random.chance(0.4),
  };
}

/** 64 GiB. */
const moreThanEnginesGive = 1_000_000;

interface Context {
  readonly random: Random;
  readonly generation: Program['generation'];
  /** The result list of every function of the index space. */
  readonly lists: readonly ResultList[];
  readonly importCount: number;
  readonly memoryCount: number;
}

/** Imported ones come first, as in the index space. */
function makeMemories(random: Random): MemoryPlan[] {
  const memories = Array.from({ length: random.below(4) }, (): MemoryPlan => {
    const minimum = random.below(3);
    const isShared = random.chance(0.15);
    const maximum = isShared || random.chance(0.7) ? minimum + random.below(6) : undefined;
    const visibility = random.pick(['hidden', 'exported', 'imported'] as const);
    const initial = Math.min(minimum + random.below(3), maximum ?? 100);
    return { minimum, maximum, is64: random.chance(0.25), isShared, visibility, initial };
  });
  const isImported = ({ visibility }: MemoryPlan) => visibility === 'imported';
  return [...memories.filter(isImported), ...memories.filter((memory) => !isImported(memory))];
}

function makeImport({ random, generation, ...context }: Context, memories: readonly MemoryPlan[], results: ResultList) {
  const reachable = memories.flatMap(({ visibility }, index) => (visibility === 'hidden' ? [] : [index]));
  const actions = Array.from({ length: random.below(4) }, (): HostAction => {
    const kind = random.below(10);
    if (kind < 2) return { act: 'throw', tag: generation === 'none' ? 'host' : random.pick(['host', 0, 1]) };
    if (kind < 6 && reachable.length > 0) {
      return { act: 'grow', memory: random.pick(reachable), pages: random.below(3) };
    }
    return {
      act: 'enter',
      target: context.importCount + random.below(context.lists.length - context.importCount),
      catches: random.chance(0.4),
    };
  });
  // The host has no function at hand that it could return.
  const types = resultLists[results] as readonly ResultType[];
  const values = makeValues(random, results).map((value, place) => (types[place] === 'funcref' ? 0 : value));
  const made: ImportedFunction = { results, values, actions };
  return made;
}

function makeFunction(context: Context, results: ResultList): OwnFunction {
  const { random } = context;
  const leaf = makeExit(context, results, false);
  const body = makeStatements(context, { results, scopes: [], budget: { left: 12 } });
  return { results, leaf, body, values: makeValues(random, results) };
}

function makeValues(random: Random, results: ResultList): Values {
  return (resultLists[results] as readonly ResultType[]).map((type) =>
    type === 'nonNull' ? 1 : random.pick([0, 1, 63, 64, 100_000]),
  );
}

interface Place {
  readonly results: ResultList;
  /** Open scopes, outermost first; `handler` while what a handler does is being made, if its exception can be thrown again. */
  readonly scopes: readonly ('body' | 'handler')[];
  /** Statements that the function may still have. */
  readonly budget: { left: number };
}

function makeStatements(context: Context, place: Place): Statement[] {
  const count = context.random.below(place.scopes.length > 3 ? 2 : 4);
  return Array.from({ length: count }).flatMap(() => (place.budget.left-- > 0 ? [makeStatement(context, place)] : []));
}

function makeStatement(context: Context, place: Place): Statement {
  const { random, generation, memoryCount, lists } = context;
  const { scopes, results } = place;
  const inner = (kind: 'body' | 'handler' = 'body') => makeStatements(context, { ...place, scopes: [...scopes, kind] });
  const kind = random.below(100);
  if (kind < 35) return { do: 'call', path: random.pick(callPaths), target: random.below(lists.length) };
  if (kind < 42) return { do: 'block', isLoop: random.chance(0.4), body: inner() };
  if (kind < 48 && scopes.length > 0) {
    return {
      do: 'break',
      by: random.pick(['br', 'br_if', 'br_table'] as const),
      scopesOut: random.below(scopes.length),
    };
  }
  if (kind < 56) {
    const yes = makeStatements(context, place);
    return { do: 'when', bit: random.pick([1, 2]), yes, no: makeStatements(context, place) };
  }
  if (kind < 62 && memoryCount > 0) {
    return { do: 'grow', memory: random.below(memoryCount), pages: random.pick([0, 1, 2, moreThanEnginesGive]) };
  }
  if (kind < 65) return makeStay(random, results);
  const rethrowable = scopes.flatMap((scope, index) => (scope === 'handler' ? [scopes.length - 1 - index] : []));
  if (kind < 72 && rethrowable.length > 0) return { do: 'rethrow', scopesOut: random.pick(rethrowable) };
  if (kind < 90 && (generation === 'legacy' || generation === 'exnref')) {
    if (generation === 'legacy' && random.chance(0.35)) {
      return { do: 'delegate', body: inner(), scopesOut: 1 + random.below(scopes.length + 1) };
    }
    const takesPayload = generation === 'exnref' && results === 1;
    if (takesPayload && random.chance(0.5)) return { do: 'catchToFunction', body: inner() };
    const tags = random.pick([[], [0], [1], ['all'], [0, 1], [1, 'all'], [0, 'all'], ['all']] as const);
    const handlers = tags.map((tag) => {
      const keeps = random.chance(0.5);
      return { tag, keeps, body: inner(generation === 'legacy' || keeps ? 'handler' : 'body') };
    });
    return { do: 'try', body: inner(), handlers };
  }
  return { do: 'exit', exit: makeExit(context, results, true) };
}

function makeStay(random: Random, results: ResultList): Statement {
  const last = (resultLists[results] as readonly ResultType[]).at(-1);
  const ways =
    last === 'anyref' ? (['br_if', 'br_on_null', 'br_on_cast'] as const) : (['br_if', 'br_on_null'] as const);
  return { do: 'stay', by: random.pick(ways), values: makeValues(random, results) };
}

const anyWays: readonly ValueExit[] = ['return', 'return', 'br', 'br_if', 'br_table', 'br_on_null'];
const traps: readonly Trap[] = ['unreachable', 'division', 'nullCall', 'nullTailCall'];

function makeExit(context: Context, results: ResultList, mayCall: boolean): Exit {
  const { random, generation, lists } = context;
  const kind = random.below(100);
  if (kind < 8 && generation !== 'none') return { by: 'throw', tag: random.below(tagCount) };
  if (kind < 11) return { by: 'trap', trap: random.pick(traps) };
  if (kind < 45 && mayCall) {
    const alike = lists.flatMap((list, index) => (list === results ? [index] : []));
    return { by: 'tail', path: random.pick(callPaths), target: random.pick(alike) };
  }
  const last = (resultLists[results] as readonly ResultType[]).at(-1);
  const isFunction = last === 'funcref' || last === 'typed' || last === 'nonNull';
  const more: readonly ValueExit[] = isFunction
    ? ['br_on_non_null', 'br_on_non_null']
    : last === 'anyref'
      ? ['br_on_cast', 'br_on_cast_fail']
      : [];
  const by = random.pick([...anyWays, ...more]);
  const values = makeValues(random, results);
  const taken = by === 'br_on_non_null' ? [...values.slice(0, -1), 1] : values;
  return { by, values: taken, hasRest: random.chance(0.3) };
}
