import type { Span } from '../span.ts';
import { byStart, freeLane, type SpanTree, spanTrees } from '../span-tree.ts';

/**
 * Lays spans out in lanes in which they only ever lie within each other or one after the other, as the formats of profilers want it. Calls
 * that wait for promises overlap, and one may end after the call that began it: such a span begins a lane of its own.
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

/** Takes out of a tree what does not lie within its parent, or not after the sibling before it. */
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
