/**
 * Frames as columns: what is drawn as one box. In time order a frame is a span; left heavy it is all spans that
 * have the same name and were called along the same path.
 */
export interface Frames {
  readonly count: number;
  readonly name: Int32Array;
  /** The parent of a frame; -1 without one. */
  readonly parent: Int32Array;
  /** The left edge in nanoseconds. */
  readonly from: Float64Array;
  readonly to: Float64Array;
  readonly row: Int32Array;
  /** Nanoseconds altogether. */
  readonly total: Float64Array;
  readonly self: Float64Array;
  /** How many spans the frame stands for. */
  readonly calls: Int32Array;
  readonly pages: Float64Array;
  /** How many of the spans failed. */
  readonly failures: Int32Array;
  readonly foldedCalls: Float64Array;
  readonly foldedTime: Float64Array;
  /** The frames of each row, from left to right. Those of a row never overlap. */
  readonly rows: readonly Int32Array[];
  /** The right edge of everything. */
  readonly extent: number;
}

/** A part of the flame graph: nanoseconds from the left edge. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** {@link Frames} before they are placed in rows. */
export type FrameColumns = Omit<Frames, 'rows' | 'extent'>;

/** Empty columns for `count` frames. */
export function frameColumns(count: number): FrameColumns {
  return {
    count,
    name: new Int32Array(count),
    parent: new Int32Array(count).fill(-1),
    from: new Float64Array(count),
    to: new Float64Array(count),
    row: new Int32Array(count),
    total: new Float64Array(count),
    self: new Float64Array(count),
    calls: new Int32Array(count),
    pages: new Float64Array(count),
    failures: new Int32Array(count),
    foldedCalls: new Float64Array(count),
    foldedTime: new Float64Array(count),
  };
}

/** The frames of each row, from left to right. A frame of width 0 stands before the one that starts at the same place. */
export function rowsOf({ row, from, to }: Pick<Frames, 'row' | 'from' | 'to'>): Int32Array[] {
  const startOf = (frame: number): number => from[frame] as number;
  const endOf = (frame: number): number => to[frame] as number;
  const rows: number[][] = [];
  for (let frame = 0; frame < row.length; frame++) {
    const at = row[frame] as number;
    while (rows.length <= at) rows.push([]);
    (rows[at] as number[]).push(frame);
  }
  return rows.map((frames) =>
    Int32Array.from(frames).sort((a, b) => startOf(a) - startOf(b) || endOf(a) - endOf(b) || a - b),
  );
}

/** The index of the first frame of a row that ends beyond `x`; the row's length without one. */
export function firstEndingAfter(row: Int32Array, to: Float64Array, x: number, begin = 0): number {
  let low = begin;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((to[row[middle] as number] as number) > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The frame at a place, or -1. `tolerance` finds those that are thinner than a finger. */
export function frameAt(frames: Frames, rowNumber: number, x: number, tolerance: number): number {
  const row = frames.rows[rowNumber];
  if (row === undefined) return -1;
  const frame = row[firstEndingAfter(row, frames.to, x - tolerance)];
  return frame !== undefined && (frames.from[frame] as number) <= x + tolerance ? frame : -1;
}

/** The frames directly within a frame, or the outermost ones for -1; from left to right. Scans all frames, so it is for key presses and not for painting. */
export function childrenOf(frames: Frames, parent: number): number[] {
  const children: number[] = [];
  for (let frame = 0; frame < frames.count; frame++) if (frames.parent[frame] === parent) children.push(frame);
  return children.sort((a, b) => (frames.from[a] as number) - (frames.from[b] as number) || a - b);
}

/** A frame and all that it lies in, outermost first. */
export function pathTo(frames: Frames, frame: number): number[] {
  const path: number[] = [];
  for (let at = frame; at >= 0; at = frames.parent[at] as number) path.push(at);
  return path.reverse();
}
