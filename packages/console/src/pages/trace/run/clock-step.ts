/**
 * How fine a clock is: browsers round theirs, to 5 microseconds where the page is isolated, and to 100 and more where it is not.
 *
 * @param now milliseconds
 * @returns microseconds; the least that it went on by in a few steps
 */
export function clockStepMicroseconds(now: () => number): number {
  let least = Number.POSITIVE_INFINITY;
  let before = now();
  for (let looks = 0, steps = 0; looks < 5_000_000 && steps < 20; looks++) {
    const at = now();
    if (at === before) continue;
    least = Math.min(least, at - before);
    before = at;
    steps += 1;
  }
  return Math.round(least * 1e6) / 1e3;
}
