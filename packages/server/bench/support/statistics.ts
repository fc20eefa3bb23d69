/** The middle one by size, or the mean of the two in the middle; `undefined` of nothing. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}

/** The median of what `of` makes of each; those of which it makes nothing are left out. */
export function medianOf<T>(items: readonly T[], of: (item: T, at: number) => number | undefined): number | undefined {
  return median(items.map(of).filter((value) => value !== undefined));
}
