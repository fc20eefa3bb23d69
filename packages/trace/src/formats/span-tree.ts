import type { Span } from '../span.ts';

/** A span with the spans directly within it, by start. */
export interface SpanTree {
  readonly span: Span;
  readonly children: SpanTree[];
}

/**
 * Puts spans under their parents, whatever order they come in. A span whose parent isn't among them is a root.
 *
 * @returns the roots, by start; those that begin at the same time stay in the order in which they came
 */
export function spanTrees(spans: readonly Span[]): SpanTree[] {
  const trees = spans.map((span): SpanTree => ({ span, children: [] }));
  const byId = new Map(trees.map((tree) => [`${tree.span.traceId}${tree.span.spanId}`, tree]));
  const roots: SpanTree[] = [];
  for (const tree of trees) {
    const parent = byId.get(`${tree.span.traceId}${tree.span.parentSpanId}`);
    (parent === undefined || parent === tree ? roots : parent.children).push(tree);
  }
  for (const { children } of trees) children.sort(byStart);
  return roots.sort(byStart);
}

/** Orders trees by when they begin. */
export function byStart(one: SpanTree, other: SpanTree): number {
  return Number(one.span.startTimeUnixNano - other.span.startTimeUnixNano);
}

/** What hears of a walk; the root's depth is 0. */
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
