import { chance, createRandom, pick, type Random } from '../random.ts';
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
  const generation = pick(random, ['none', 'tags', 'legacy', 'legacy', 'exnref', 'exnref'] as const);
  const importLists = Array.from({ length: random(4) }, () => random(importableResultLists));
  // Type 0 must be some function's: references to it are results.
  const ownLists = [0, ...Array.from({ length: 1 + random(7) }, () => random(resultLists.length))];
  const memories = makeMemories(random);
  const context: Context = {
    random,
    generation,
    lists: [...importLists, ...ownLists],
    importCount: importLists.length,
    memoryCount: memories.length,
  };
  const isTracedPercent = pick(random, [100, 100, 100, 60]);
  const count = context.lists.length;
  return {
    generation,
    imports: importLists.map((results) => makeImport(context, memories, results)),
    functions: ownLists.map((results) => makeFunction(context, results)),
    memories,
    start: chance(random, 20) ? { target: random(count), fuel: 1 + random(3) } : undefined,
    traced: Array.from({ length: count + 1 }, () => chance(random, isTracedPercent)),
    paddedPercent: pick(random, [0, 0, 10, 50]),
    hasCustomSections: chance(random, 30),
    hasBranchHints: chance(random, 40),
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
  const memories = Array.from({ length: random(4) }, (): MemoryPlan => {
    const minimum = random(3);
    const isShared = chance(random, 15);
    const maximum = isShared || chance(random, 70) ? minimum + random(6) : undefined;
    const visibility = pick(random, ['hidden', 'exported', 'imported'] as const);
    const initial = Math.min(minimum + random(3), maximum ?? 100);
    return { minimum, maximum, is64: chance(random, 25), isShared, visibility, initial };
  });
  const isImported = ({ visibility }: MemoryPlan) => visibility === 'imported';
  return [...memories.filter(isImported), ...memories.filter((memory) => !isImported(memory))];
}

function makeImport({ random, generation, ...context }: Context, memories: readonly MemoryPlan[], results: ResultList) {
  const reachable = memories.flatMap(({ visibility }, index) => (visibility === 'hidden' ? [] : [index]));
  const actions = Array.from({ length: random(4) }, (): HostAction => {
    const kind = random(10);
    if (kind < 2) return { act: 'throw', tag: generation === 'none' ? 'host' : pick(random, ['host', 0, 1]) };
    if (kind < 6 && reachable.length > 0) {
      return { act: 'grow', memory: pick(random, reachable), pages: random(3) };
    }
    return {
      act: 'enter',
      target: context.importCount + random(context.lists.length - context.importCount),
      catches: chance(random, 40),
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
    type === 'nonNull' ? 1 : pick(random, [0, 1, 63, 64, 100_000]),
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
  const count = context.random(place.scopes.length > 3 ? 2 : 4);
  return Array.from({ length: count }).flatMap(() => (place.budget.left-- > 0 ? [makeStatement(context, place)] : []));
}

function makeStatement(context: Context, place: Place): Statement {
  const { random, generation, memoryCount, lists } = context;
  const { scopes, results } = place;
  const inner = (kind: 'body' | 'handler' = 'body') => makeStatements(context, { ...place, scopes: [...scopes, kind] });
  const kind = random(100);
  if (kind < 35) return { do: 'call', path: pick(random, callPaths), target: random(lists.length) };
  if (kind < 42) return { do: 'block', isLoop: chance(random, 40), body: inner() };
  if (kind < 48 && scopes.length > 0) {
    return { do: 'break', by: pick(random, ['br', 'br_if', 'br_table'] as const), scopesOut: random(scopes.length) };
  }
  if (kind < 56) {
    const yes = makeStatements(context, place);
    return { do: 'when', bit: pick(random, [1, 2]), yes, no: makeStatements(context, place) };
  }
  if (kind < 62 && memoryCount > 0) {
    return { do: 'grow', memory: random(memoryCount), pages: pick(random, [0, 1, 2, moreThanEnginesGive]) };
  }
  if (kind < 65) return makeStay(random, results);
  const rethrowable = scopes.flatMap((scope, index) => (scope === 'handler' ? [scopes.length - 1 - index] : []));
  if (kind < 72 && rethrowable.length > 0) return { do: 'rethrow', scopesOut: pick(random, rethrowable) };
  if (kind < 90 && (generation === 'legacy' || generation === 'exnref')) {
    if (generation === 'legacy' && chance(random, 35)) {
      return { do: 'delegate', body: inner(), scopesOut: 1 + random(scopes.length + 1) };
    }
    const takesPayload = generation === 'exnref' && results === 1;
    if (takesPayload && chance(random, 50)) return { do: 'catchToFunction', body: inner() };
    const tags = pick(random, [[], [0], [1], ['all'], [0, 1], [1, 'all'], [0, 'all'], ['all']] as const);
    const handlers = tags.map((tag) => {
      const keeps = chance(random, 50);
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
  return { do: 'stay', by: pick(random, ways), values: makeValues(random, results) };
}

const anyWays: readonly ValueExit[] = ['return', 'return', 'br', 'br_if', 'br_table', 'br_on_null'];
const traps: readonly Trap[] = ['unreachable', 'division', 'nullCall', 'nullTailCall'];

function makeExit(context: Context, results: ResultList, mayCall: boolean): Exit {
  const { random, generation, lists } = context;
  const kind = random(100);
  if (kind < 8 && generation !== 'none') return { by: 'throw', tag: random(tagCount) };
  if (kind < 11) return { by: 'trap', trap: pick(random, traps) };
  if (kind < 45 && mayCall) {
    const alike = lists.flatMap((list, index) => (list === results ? [index] : []));
    return { by: 'tail', path: pick(random, callPaths), target: pick(random, alike) };
  }
  const last = (resultLists[results] as readonly ResultType[]).at(-1);
  const isFunction = last === 'funcref' || last === 'typed' || last === 'nonNull';
  const more: readonly ValueExit[] = isFunction
    ? ['br_on_non_null', 'br_on_non_null']
    : last === 'anyref'
      ? ['br_on_cast', 'br_on_cast_fail']
      : [];
  const by = pick(random, [...anyWays, ...more]);
  const values = makeValues(random, results);
  const taken = by === 'br_on_non_null' ? [...values.slice(0, -1), 1] : values;
  return { by, values: taken, hasRest: chance(random, 30) };
}
