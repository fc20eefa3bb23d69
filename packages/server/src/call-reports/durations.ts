/*
 * Durations are counted in buckets of fixed bounds, four per doubling, so that counts of different hosts add up and a percentile is at most
 * a fifth off. Hosts may use other bounds.
 */

/** Counts by the number of a bucket. Empty buckets are left out. */
export type Durations = Readonly<Record<string, number>>;

/** The upper bound of the first bucket. */
const firstBoundSeconds = 10e-6;

const bucketsPerDoubling = 4;

/** The last bucket, which has no upper bound. It begins at about 78 seconds. */
const lastBucket = 92;

/** Returns the upper bound of a bucket, in seconds. */
function upperBound(bucket: number): number {
  return firstBoundSeconds * 2 ** (bucket / bucketsPerDoubling);
}

/** Returns the bucket of a duration. A bucket includes its upper bound. */
export function durationBucket(seconds: number): number {
  if (seconds <= firstBoundSeconds) return 0;
  // Rounding must not move a bound into the next bucket.
  const exact = bucketsPerDoubling * Math.log2(seconds / firstBoundSeconds);
  return Math.min(lastBucket, Math.ceil(exact - 1e-9));
}

export function addDurations(a: Durations, b: Durations): Durations {
  const sums = { ...a };
  for (const [bucket, count] of Object.entries(b)) sums[bucket] = (sums[bucket] ?? 0) + count;
  return sums;
}

/**
 * Converts a histogram with explicit bounds. A count goes to the bucket of its upper bound, and that of the last one, which has none, to the bucket
 * after its lower bound.
 *
 * @param counts one more than bounds
 */
export function fromHistogram(bounds: readonly number[], counts: readonly number[]): Durations {
  const durations: Record<string, number> = {};
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue;
    const bound = bounds[at];
    const bucket =
      bound === undefined ? Math.min(lastBucket, durationBucket(bounds.at(-1) ?? 0) + 1) : durationBucket(bound);
    durations[bucket] = (durations[bucket] ?? 0) + count;
  }
  return durations;
}

/**
 * Returns a percentile by linear interpolation within its bucket, in seconds; `null` without counts.
 *
 * @param share such as 0.95
 */
export function percentile(durations: Durations, share: number): number | null {
  const counts = Object.entries(durations)
    .map(([bucket, count]): [number, number] => [Number(bucket), count])
    .sort(([a], [b]) => a - b);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [bucket, count] of counts) {
    if (below + count >= share * total && count > 0) {
      const lower = bucket === 0 ? 0 : upperBound(bucket - 1);
      if (bucket === lastBucket) return lower;
      return lower + ((upperBound(bucket) - lower) * (share * total - below)) / count;
    }
    below += count;
  }
  return null;
}
