import { mergePaths } from '../span-tree.ts';
import type { FlameGraphData } from './data.ts';
import { type FrameColumns, type Frames, frameColumns, rowsOf } from './frames.ts';

/**
 * Merges spans of the same name that were called along the same path, and lays them out from left to right by what they took
 * altogether, the most first: where the time went, however many calls it was.
 */
export function layOutLeftHeavy(data: FlameGraphData): Frames {
  const { groupOf: frameOf, count } = mergePaths(data.parent, data.name, data.names.length);
  const columns = frameColumns(count);
  for (let span = 0; span < data.name.length; span++) {
    const frame = frameOf[span] as number;
    const parent = data.parent[span] as number;
    columns.name[frame] = data.name[span] as number;
    columns.parent[frame] = parent === -1 ? -1 : (frameOf[parent] as number);
    add(columns.total, frame, data.duration[span] as number);
    add(columns.self, frame, data.self[span] as number);
    add(columns.pages, frame, data.pages[span] as number);
    add(columns.calls, frame, 1);
  }
  for (const [span] of data.failures) add(columns.failures, frameOf[span] as number, 1);
  for (const [span, calls, time] of data.folded) {
    add(columns.foldedCalls, frameOf[span] as number, calls);
    add(columns.foldedTime, frameOf[span] as number, time);
  }
  const extent = place(columns);
  return { ...columns, rows: rowsOf(columns), extent };
}

function add(column: Int32Array | Float64Array, at: number, amount: number): void {
  column[at] = (column[at] as number) + amount;
}

/** @returns the right edge */
function place(columns: FrameColumns): number {
  const { count, parent, total, from, to, row } = columns;
  // Calls that overlapped in time may have taken longer altogether than what they lie in.
  const width = total.slice();
  const within = new Float64Array(count);
  for (let frame = count - 1; frame >= 0; frame--) {
    width[frame] = Math.max(width[frame] as number, within[frame] as number);
    const above = parent[frame] as number;
    if (above !== -1) add(within, above, width[frame] as number);
  }
  const order = Int32Array.from({ length: count }, (_, frame) => frame).sort(
    (a, b) => (width[b] as number) - (width[a] as number) || a - b,
  );
  const children: number[][] = Array.from({ length: count }, () => []);
  const roots: number[] = [];
  for (const frame of order) (children[parent[frame] as number] ?? roots).push(frame);
  const placeAll = (frames: readonly number[], left: number, rowNumber: number) => {
    let x = left;
    for (const frame of frames) {
      from[frame] = x;
      x += width[frame] as number;
      to[frame] = x;
      row[frame] = rowNumber;
    }
    return x;
  };
  const extent = placeAll(roots, 0, 0);
  // Frames are numbered parents before children.
  for (let frame = 0; frame < count; frame++) {
    placeAll(children[frame] as number[], from[frame] as number, (row[frame] as number) + 1);
  }
  return extent;
}
