import { maxNearNameBytes, maxNearNameComparisons } from '../limits.ts';

/** Finds the name most similar to a wanted one. Names are ranges of bytes. */
export interface NearNameSearch {
  /** Offers a name, which is kept if it is nearer than the earlier ones. */
  readonly offer: (bytes: Uint8Array, start: number, end: number) => void;
  /** The nearest name offered, or undefined if none is near. */
  readonly nearest: () => Uint8Array | undefined;
}

/**
 * Finds the name nearest to `wanted` by edit distance. A name is near if at most one byte in three differs, and at most 3
 * do. The search ends after {@link maxNearNameComparisons}, so that long, similar names can't take much time.
 */
export function createNearNameSearch(wanted: Uint8Array): NearNameSearch {
  let worst = wanted.length > maxNearNameBytes ? 0 : Math.min(3, Math.floor((wanted.length + 1) / 3));
  let best: Uint8Array | undefined;
  let comparisons = 0;
  const rows = [new Uint8Array(wanted.length + 1), new Uint8Array(wanted.length + 1)] as const;
  return {
    offer(bytes, start, end) {
      if (worst === 0 || Math.abs(end - start - wanted.length) > worst || comparisons > maxNearNameComparisons) return;
      comparisons += Math.min(end - start, wanted.length) + 1;
      const [from, to, wantedEnd] = withoutSharedEnds(wanted, bytes, start, end);
      const name = bytes.subarray(from, to);
      comparisons += name.length * (2 * worst + 1);
      const distance = editDistance(wanted.subarray(from - start, wantedEnd), name, worst, rows);
      if (distance > worst) return;
      best = bytes.slice(start, end);
      worst = distance - 1;
    },
    nearest: () => best,
  };
}

/** Strips the common prefix and suffix: returns the range of the name, and the end in `wanted`, of the rest. */
function withoutSharedEnds(
  wanted: Uint8Array,
  bytes: Uint8Array,
  start: number,
  end: number,
): readonly [from: number, to: number, wantedEnd: number] {
  let from = start;
  let to = end;
  let wantedEnd = wanted.length;
  while (from < to && from - start < wantedEnd && bytes[from] === wanted[from - start]) from++;
  while (to > from && wantedEnd > from - start && bytes[to - 1] === wanted[wantedEnd - 1]) {
    to--;
    wantedEnd--;
  }
  return [from, to, wantedEnd];
}

/**
 * The edit distance of two texts, or any number above `limit` if it is greater. Visits only the cells within `limit` of the
 * diagonal.
 */
function editDistance(
  a: Uint8Array,
  b: Uint8Array,
  limit: number,
  [first, second]: readonly [Uint8Array, Uint8Array],
): number {
  let previous = first;
  let current = second;
  for (let column = 0; column <= a.length; column++) previous[column] = Math.min(column, limit + 1);
  for (let row = 1; row <= b.length; row++) {
    const from = Math.max(1, row - limit);
    const to = Math.min(a.length, row + limit);
    current[from - 1] = from === 1 ? Math.min(row, limit + 1) : limit + 1;
    let least = current[from - 1] as number;
    for (let column = from; column <= to; column++) {
      const exchanged = (previous[column - 1] as number) + (a[column - 1] === b[row - 1] ? 0 : 1);
      const leftOut = (column < row + limit ? (previous[column] as number) : limit + 1) + 1;
      const putIn = (current[column - 1] as number) + 1;
      const distance = Math.min(exchanged, leftOut, putIn, limit + 1);
      current[column] = distance;
      if (distance < least) least = distance;
    }
    if (least > limit) return least;
    [previous, current] = [current, previous];
  }
  return previous[a.length] as number;
}
