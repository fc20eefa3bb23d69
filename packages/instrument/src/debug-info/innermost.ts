import type { CodeRange } from './unit-values.ts';

/** Ranges of code, and what each one is for. */
export interface Owned<Owner> {
  readonly owner: Owner;
  readonly ranges: readonly CodeRange[];
}

/**
 * Makes a function that finds the innermost of nested ranges around a code offset. Ranges that overlap without being nested end
 * where the next one begins.
 */
export function findInnermost<Owner>(all: readonly Owned<Owner>[]): (codeOffset: number) => Owner | undefined {
  const ranges = all.flatMap(({ owner, ranges: own }, order) => own.map((range) => ({ ...range, owner, order })));
  ranges.sort((a, b) => a.start - b.start || b.end - a.end || a.order - b.order);
  const starts: number[] = [];
  const owners: (Owner | undefined)[] = [];
  const open: { readonly end: number; readonly owner: Owner }[] = [];
  const mark = (start: number, owner: Owner | undefined) => {
    starts.push(start);
    owners.push(owner);
  };
  const closeUpTo = (offset: number) => {
    for (let last = open.at(-1); last !== undefined && last.end <= offset; last = open.at(-1)) {
      open.pop();
      // What ended within the range that just ended is over, too.
      while (open.length > 0 && (open.at(-1)?.end as number) <= last.end) open.pop();
      mark(last.end, open.at(-1)?.owner);
    }
  };
  for (const { start, end, owner } of ranges) {
    closeUpTo(start);
    open.push({ end, owner });
    mark(start, owner);
  }
  closeUpTo(Number.POSITIVE_INFINITY);
  const sorted = Float64Array.from(starts);
  return (codeOffset) => owners[lastUpTo(sorted, codeOffset)];
}

/** The index of the last value that is at most `value`; -1 without one. */
export function lastUpTo(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
