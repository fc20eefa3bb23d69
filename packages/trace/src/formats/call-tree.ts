import type { Span, TracedFunction } from '../span.ts';
import { mergePaths, orderSpans } from '../span-tree.ts';

/** A call, or all calls of one function from one place in the tree. */
export interface CallTree {
  readonly name: string;
  /** The function that all of these are calls of; `undefined` for manual spans. */
  readonly function: TracedFunction | undefined;
  calls: number;
  failures: number;
  /** Why the first one that failed did. */
  failure: string;
  totalTimeNano: bigint;
  selfTimeNano: bigint;
  grownPages: number;
  foldedCalls: number;
  foldedTimeNano: bigint;
  /** By when the first call of each began. */
  readonly children: CallTree[];
}

/**
 * The tree of calls. Merged, calls of the same function by, all the way up, the same callers are one node: a loop that calls a function a
 * thousand times comes out as one line.
 */
export function callTrees(given: readonly Span[], isMerged: boolean): CallTree[] {
  const { spans, parents } = orderSpans(given);
  const numbers = new Map<string, number>();
  const names = spans.map((span) => {
    const key = `${span.function?.index ?? 'manual'} ${span.name}`;
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
  const groupOf = isMerged ? mergePaths(parents, names, numbers.size).groupOf : spans.keys().toArray();
  const roots: CallTree[] = [];
  const trees: CallTree[] = [];
  for (const [at, span] of spans.entries()) {
    const group = groupOf[at] as number;
    let tree = trees[group];
    if (tree === undefined) {
      tree = nothingOf(span);
      trees[group] = tree;
      const parent = parents[at] as number;
      (parent === -1 ? roots : (trees[groupOf[parent] as number] as CallTree).children).push(tree);
    }
    addTo(tree, span);
  }
  return roots;
}

function nothingOf(span: Span): CallTree {
  return {
    name: span.name,
    function: span.function,
    calls: 0,
    failures: 0,
    failure: '',
    totalTimeNano: 0n,
    selfTimeNano: 0n,
    grownPages: 0,
    foldedCalls: 0,
    foldedTimeNano: 0n,
    children: [],
  };
}

function addTo(merged: CallTree, span: Span): void {
  merged.calls += 1;
  merged.totalTimeNano += span.endTimeUnixNano - span.startTimeUnixNano;
  merged.selfTimeNano += span.selfTimeNano;
  merged.grownPages += span.grownPages;
  merged.foldedCalls += span.folded.calls;
  merged.foldedTimeNano += span.folded.timeNano;
  if (span.status.code !== 'error') return;
  if (merged.failures === 0) merged.failure = span.status.message;
  merged.failures += 1;
}
