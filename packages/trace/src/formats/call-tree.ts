import type { Span, TracedFunction } from '../span.ts';
import { mergePaths, orderSpans } from '../span-tree.ts';

/** A call, or all calls of one function from one place in the tree. */
export interface CallTree {
  readonly name: string;
  /** The called function; `undefined` for manual spans. */
  readonly function: TracedFunction | undefined;
  calls: number;
  failures: number;
  /** The message of the first failed call; empty if none failed. */
  failure: string;
  totalTimeNano: bigint;
  selfTimeNano: bigint;
  grownPages: number;
  foldedCalls: number;
  foldedTimeNano: bigint;
  /** Ordered by the start of each child's first call. */
  readonly children: CallTree[];
}

/**
 * The trees of calls, one for each root. With `isMerged`, calls with the same path of functions from the root share one node,
 * so a loop that calls a function a thousand times becomes one line.
 */
export function callTrees(given: readonly Span[], isMerged: boolean): CallTree[] {
  const { spans, parents } = orderSpans(given);
  const idOfName = new Map<string, number>();
  const nameIds = spans.map((span) => {
    const key = `${span.function?.index ?? 'manual'} ${span.name}`;
    const id = idOfName.get(key) ?? idOfName.size;
    idOfName.set(key, id);
    return id;
  });
  const groupOf = isMerged ? mergePaths(parents, nameIds, idOfName.size).groupOf : spans.keys().toArray();
  const roots: CallTree[] = [];
  const trees: CallTree[] = [];
  for (const [at, span] of spans.entries()) {
    const group = groupOf[at] as number;
    let tree = trees[group];
    if (tree === undefined) {
      tree = emptyTree(span);
      trees[group] = tree;
      const parent = parents[at] as number;
      (parent === -1 ? roots : (trees[groupOf[parent] as number] as CallTree).children).push(tree);
    }
    addTo(tree, span);
  }
  return roots;
}

function emptyTree(span: Span): CallTree {
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
