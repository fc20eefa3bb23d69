import { freeLane } from '../span-tree.ts';
import type { FlameGraphData } from './data.ts';
import { type FrameColumns, type Frames, frameColumns, rowsOf } from './frames.ts';

/** Gaps between roots are collapsed to this share of the traced time. */
const maxGapShare = 0.01;

/** The frames in time order, and the mapping of times to positions. */
export interface TimeOrder extends Frames {
  /** The position of a time: nanoseconds from the left edge, without the collapsed gaps. */
  readonly placeOf: (timeNano: number) => number;
  /** The middles of stretches without any call that were collapsed, in nanoseconds from the left edge. */
  readonly collapsedGaps: readonly number[];
}

/**
 * Lays spans out over time: each below the one that it lies in. Trees that overlap in time (of several instances, or of calls
 * that waited for the host) get rows of their own, below one another.
 */
export function layOutTimeOrder(data: FlameGraphData): TimeOrder {
  const count = data.name.length;
  const columns = frameColumns(count);
  const gaps = collapseGaps(data);
  columns.name.set(data.name);
  columns.parent.set(data.parent);
  columns.total.set(data.duration);
  columns.self.set(data.self);
  columns.pages.set(data.pages);
  columns.calls.fill(1);
  for (const [span] of data.failures) columns.failures[span] = 1;
  for (const [span, calls, time] of data.folded) {
    columns.foldedCalls[span] = calls;
    columns.foldedTime[span] = time;
  }
  for (let span = 0; span < count; span++) {
    const start = data.start[span] as number;
    columns.from[span] = gaps.placeOf(start);
    columns.to[span] = gaps.placeOf(start + (data.duration[span] as number));
  }
  stack(columns);
  const extent = columns.to.reduce((most, to) => Math.max(most, to), 0);
  return {
    ...columns,
    rows: rowsOf(columns),
    extent,
    placeOf: gaps.placeOf,
    collapsedGaps: gaps.collapsedGaps,
  };
}

/** Finds the gaps between trees that are too long to be shown, and moves everything behind them to the left. */
function collapseGaps(data: FlameGraphData): {
  readonly placeOf: (timeNano: number) => number;
  readonly collapsedGaps: readonly number[];
} {
  const roots = data.parent.flatMap((parent, span) => (parent === -1 ? [span] : []));
  const busy = roots
    .map((span) => ({
      from: data.start[span] as number,
      to: (data.start[span] as number) + (data.duration[span] ?? 0),
    }))
    .sort((a, b) => a.from - b.from);
  const busyNano = busy.reduce((sum, { from, to }) => sum + to - from, 0);
  const maxGap = busyNano * maxGapShare;
  /** From each of these moments on, everything stands so much further to the left. */
  const collapsedGaps: { readonly after: number; readonly by: number }[] = [];
  let endedAt = 0;
  let by = 0;
  for (const { from, to } of busy) {
    if (from - endedAt > maxGap && endedAt > 0) {
      by += from - endedAt - maxGap;
      collapsedGaps.push({ after: from, by });
    }
    endedAt = Math.max(endedAt, to);
  }
  const placeOf = (timeNano: number) => {
    let low = 0;
    let high = collapsedGaps.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((collapsedGaps[middle]?.after ?? 0) <= timeNano) low = middle + 1;
      else high = middle;
    }
    const moved = timeNano - (collapsedGaps[low - 1]?.by ?? 0);
    const next = collapsedGaps[low];
    // Within a collapsed gap, at most where what follows it begins.
    return next === undefined ? moved : Math.min(moved, next.after - next.by);
  };
  return { placeOf, collapsedGaps: collapsedGaps.map((gap) => gap.after - gap.by - maxGap / 2) };
}

/** Assigns each span a row that is free at that time. */
function stack(columns: FrameColumns): void {
  const { parent, from, to, row, count } = columns;
  /** Trees that overlap stand in lanes below each other: when each lane is free again. */
  const laneEnds: number[] = [];
  const laneOf = new Int32Array(count);
  /** The end of what stands in each row of a lane. */
  const rowEnds: number[][] = [];
  for (let span = 0; span < count; span++) {
    const above = parent[span] as number;
    const start = from[span] as number;
    const end = to[span] as number;
    const lane = above === -1 ? freeLane(laneEnds, start) : (laneOf[above] as number);
    laneOf[span] = lane;
    laneEnds[lane] = Math.max(laneEnds[lane] as number, end);
    rowEnds[lane] ??= [];
    const ends = rowEnds[lane] as number[];
    let at = above === -1 ? 0 : (row[above] as number) + 1;
    while ((ends[at] ?? 0) > start) at++;
    ends[at] = Math.max(ends[at] ?? 0, end);
    row[span] = at;
  }
  let height = 0;
  const bases = rowEnds.map(({ length }) => {
    height += length;
    return height - length;
  });
  for (let span = 0; span < count; span++)
    row[span] = (row[span] as number) + (bases[laneOf[span] as number] as number);
}
