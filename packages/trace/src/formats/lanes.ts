import type { Span } from '../span.ts';
import { byStart, freeLane, type SpanTree, spanTrees } from '../span-tree.ts';

/**
 * Distributes spans over lanes. Within a lane, two spans either nest or follow each other, as profiler formats require. Calls that wait for
 * promises overlap, and one may outlive the call that began it: such a span becomes a root, and goes into a lane that is free.
 *
 * @returns for each lane its trees, by start
 */
export function lanesOf(spans: readonly Span[]): SpanTree[][] {
  const roots = spanTrees(spans);
  for (let index = 0; index < roots.length; index++) {
    for (const misfit of takeMisfits(roots[index] as SpanTree)) roots.push(misfit);
  }
  const lanes: SpanTree[][] = [];
  const ends: bigint[] = [];
  for (const root of roots.sort(byStart)) {
    const lane = freeLane(ends, root.span.startTimeUnixNano);
    ends[lane] = root.span.endTimeUnixNano;
    lanes[lane] ??= [];
    lanes[lane].push(root);
  }
  return lanes;
}

/** Removes from a tree, and returns, the spans that end after their parent or overlap the sibling before them. */
function takeMisfits(root: SpanTree): SpanTree[] {
  const misfits: SpanTree[] = [];
  const open = [root];
  for (let tree = open.pop(); tree !== undefined; tree = open.pop()) {
    let free = tree.span.startTimeUnixNano;
    const fitting: SpanTree[] = [];
    for (const child of tree.children) {
      const { startTimeUnixNano, endTimeUnixNano } = child.span;
      const fits = startTimeUnixNano >= free && endTimeUnixNano <= tree.span.endTimeUnixNano;
      (fits ? fitting : misfits).push(child);
      if (fits) free = endTimeUnixNano;
    }
    tree.children.length = 0;
    for (const child of fitting) {
      tree.children.push(child);
      open.push(child);
    }
  }
  return misfits;
}
