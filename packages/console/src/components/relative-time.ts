const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** "3 days ago", "in 2 hours", "just now". */
export function relativeTime(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  for (const [unit, length] of units) {
    // A new week-long token expires in 7 days, not in 6.
    const count = seconds / length + (seconds > 0 ? 0.01 : 0);
    if (Math.abs(count) >= 1) return format.format(Math.trunc(count), unit);
  }
  return 'just now'; // also for times slightly ahead, because the server's clock may differ
}
