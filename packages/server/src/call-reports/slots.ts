const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The lengths of periods, by the age of the roll-out. They limit the number of rows of a roll-out that takes weeks. */
const lengths = [
  { ageMs: 12 * hourMs, lengthMs: minuteMs },
  { ageMs: 7 * 24 * hourMs, lengthMs: 15 * minuteMs },
  { ageMs: Number.POSITIVE_INFINITY, lengthMs: 6 * hourMs },
];

/** Returns when the period began to which a report belongs. */
export function slotOf(nowMs: number, startedAtMs: number): number {
  const lengthMs = lengths.find(({ ageMs }) => nowMs - startedAtMs < ageMs)?.lengthMs ?? minuteMs;
  return nowMs - (nowMs % lengthMs);
}
