/**
 * How far the monotonic clock and the wall clock may part before the latter is believed, in milliseconds: the former doesn't follow
 * corrections, and stands still while some machines sleep; the latter has only whole milliseconds.
 */
const toleranceMs = 10;

/** @returns what tells milliseconds since 1970 at which `performance.now()` was 0 */
export function createOrigin(
  now: () => number = () => performance.now(),
  wallNow: () => number = Date.now,
): () => number {
  let originMs = wallNow() - now();
  return () => {
    const foundMs = wallNow() - now();
    if (Math.abs(foundMs - originMs) > toleranceMs) originMs = foundMs;
    return originMs;
  };
}

/** Milliseconds as nanoseconds: the whole ones first, since a double can't hold today's time in nanoseconds. */
export function toNano(ms: number): bigint {
  const wholeMs = Math.trunc(ms);
  return BigInt(wholeMs) * 1_000_000n + BigInt(Math.round((ms - wholeMs) * 1e6));
}
