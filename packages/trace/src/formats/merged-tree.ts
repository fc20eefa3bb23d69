import type { Span, TracedFunction } from '../span.ts';
import { type SpanTree, spanTrees } from './span-tree.ts';

/** All calls of one function from one place in the tree, taken together. */
export interface MergedTree {
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
  readonly children: MergedTree[];
}

/**
 * Puts calls together that have the same function and, all the way up, the same callers. A loop that calls a function a thousand times comes
 * out as one line.
 */
export function mergedTrees(spans: readonly Span[]): MergedTree[] {
  const roots: MergedTree[] = [];
  const open: { readonly trees: readonly SpanTree[]; readonly into: MergedTree[] }[] = [
    { trees: spanTrees(spans), into: roots },
  ];
  for (let group = open.pop(); group !== undefined; group = open.pop()) {
    for (const [merged, children] of mergeSiblings(group.trees)) {
      group.into.push(merged);
      if (children.length > 0) open.push({ trees: children, into: merged.children });
    }
  }
  return roots;
}

/** Every call by itself, in the same shape. */
export function singleTrees(spans: readonly Span[]): MergedTree[] {
  const roots: MergedTree[] = [];
  const open = [{ trees: spanTrees(spans), into: roots }];
  for (let group = open.pop(); group !== undefined; group = open.pop()) {
    for (const { span, children } of group.trees) {
      const single = nothingOf(span);
      addTo(single, span);
      group.into.push(single);
      if (children.length > 0) open.push({ trees: children, into: single.children });
    }
  }
  return roots;
}

function mergeSiblings(trees: readonly SpanTree[]): Iterable<[MergedTree, SpanTree[]]> {
  const byFunction = new Map<string, [MergedTree, SpanTree[]]>();
  for (const { span, children } of trees) {
    const key = `${span.function?.index ?? 'manual'} ${span.name}`;
    let entry = byFunction.get(key);
    if (entry === undefined) {
      entry = [nothingOf(span), []];
      byFunction.set(key, entry);
    }
    addTo(entry[0], span);
    for (const child of children) entry[1].push(child);
  }
  return byFunction.values();
}

function nothingOf(span: Span): MergedTree {
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

function addTo(merged: MergedTree, span: Span): void {
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
