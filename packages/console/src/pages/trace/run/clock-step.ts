/**
 * Measures the resolution of a clock. Browsers round theirs to 5 µs on isolated pages, and to 100 µs or more on others.
 *
 * @param now milliseconds
 * @returns microseconds: the smallest of a few steps
 */
export function clockStepMicroseconds(now: () => number): number {
  let least = Number.POSITIVE_INFINITY;
  let before = now();
  for (let reads = 0, steps = 0; reads < 5_000_000 && steps < 20; reads++) {
    const at = now();
    if (at === before) continue;
    least = Math.min(least, at - before);
    before = at;
    steps += 1;
  }
  return Math.round(least * 1e6) / 1e3;
}
