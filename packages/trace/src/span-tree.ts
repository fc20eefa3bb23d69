import type { Span } from './span.ts';

/** A span with the spans directly within it, by start. */
export interface SpanTree {
  readonly span: Span;
  readonly children: SpanTree[];
}

/**
 * Puts spans under their parents, whatever order they come in. A span whose parent isn't among them is a root. Of spans that are
 * each other's ancestors, which no adapter makes, the first one becomes a root.
 *
 * @returns the roots, by start; those that begin at the same time stay in the order in which they came
 */
export function spanTrees(spans: readonly Span[]): SpanTree[] {
  const trees = spans.map((span): SpanTree => ({ span, children: [] })).sort(byStart);
  const byId = new Map(trees.map((tree) => [`${tree.span.traceId}${tree.span.spanId}`, tree]));
  const parentOf = ({ span }: SpanTree) => byId.get(`${span.traceId}${span.parentSpanId}`);
  const roots: SpanTree[] = [];
  for (const tree of trees) {
    const parent = parentOf(tree);
    (parent === undefined || parent === tree ? roots : parent.children).push(tree);
  }
  const reached = new Set<SpanTree>();
  const reach = { enter: (tree: SpanTree) => void reached.add(tree) };
  walkTrees(roots, reach);
  for (const tree of trees) {
    if (reached.has(tree)) continue;
    const siblings = parentOf(tree)?.children ?? [];
    siblings.splice(siblings.indexOf(tree), 1);
    roots.push(tree);
    walkTrees([tree], reach);
  }
  return roots.sort(byStart);
}

/** Spans as columns: parents before children, by start. */
export interface OrderedSpans {
  readonly spans: readonly Span[];
  /** The position of each span's parent; -1 for roots. */
  readonly parents: readonly number[];
}

/** Orders spans so that parents come before children, and siblings by start. */
export function orderSpans(given: readonly Span[]): OrderedSpans {
  const spans: Span[] = [];
  const parents: number[] = [];
  const path: number[] = [];
  walkTrees(spanTrees(given), {
    enter({ span }, depth) {
      path[depth] = spans.push(span) - 1;
      parents.push(depth === 0 ? -1 : (path[depth - 1] as number));
    },
  });
  return { spans, parents };
}

/**
 * Merges nodes that have the same name and, all the way up, parents of the same names.
 *
 * @param parents the position of each node's parent, -1 for roots; parents come before children
 * @param names a number below `nameCount` for each node
 * @returns for each node the number of its group, parents before children
 */
export function mergePaths(
  parents: readonly number[],
  names: readonly number[],
  nameCount: number,
): { readonly groupOf: Int32Array; readonly count: number } {
  const groupOf = new Int32Array(parents.length);
  const known = new Map<number, number>();
  for (const [node, parent] of parents.entries()) {
    const above = parent === -1 ? 0 : (groupOf[parent] as number) + 1;
    const key = above * nameCount + (names[node] as number);
    const group = known.get(key) ?? known.size;
    known.set(key, group);
    groupOf[node] = group;
  }
  return { groupOf, count: known.size };
}

/** The first lane that is free at `start`, or a new one. `ends` has the time at which each lane becomes free. */
export function freeLane<Time extends number | bigint>(ends: Time[], start: Time): number {
  const free = ends.findIndex((end) => end <= start);
  return free >= 0 ? free : ends.push(start) - 1;
}

/** The start of the first span, in nanoseconds since 1970; 0 without spans. */
export function firstStart(spans: readonly Span[]): bigint {
  return spans.reduce(
    (first, { startTimeUnixNano: start }) => (start < first ? start : first),
    spans[0]?.startTimeUnixNano ?? 0n,
  );
}

/** Orders trees by when they begin. */
export function byStart(one: SpanTree, other: SpanTree): number {
  return Number(one.span.startTimeUnixNano - other.span.startTimeUnixNano);
}

/** Callbacks of a walk; the depth of a root is 0. */
export interface TreeVisitor<Tree> {
  enter(tree: Tree, depth: number): void;
  leave?(tree: Tree, depth: number): void;
}

/** Walks trees, parents before children, without a stack of calls: a trace may be deeper than this program could go. */
export function walkTrees<Tree extends { readonly children: readonly Tree[] }>(
  roots: readonly Tree[],
  visitor: TreeVisitor<Tree>,
): void {
  const open: { readonly tree: Tree; next: number }[] = [];
  for (const root of roots) {
    visitor.enter(root, 0);
    open.push({ tree: root, next: 0 });
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const child = top.tree.children[top.next++];
      if (child === undefined) {
        open.pop();
        visitor.leave?.(top.tree, open.length);
      } else {
        visitor.enter(child, open.length);
        open.push({ tree: child, next: 0 });
      }
    }
  }
}
