/** The end of an axis for values: 1, 2, 4, 6, or 8 times a power of ten, so that its middle is a round number. */
export function axisMax(values: readonly number[]): number {
  const most = Math.max(1, ...values);
  const power = 10 ** Math.floor(Math.log10(most));
  for (const factor of [1, 2, 4, 6, 8]) if (factor * power >= most) return factor * power;
  return 10 * power;
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Formats a number for an axis: `1.2K`. */
export function shortNumber(value: number): string {
  return short.format(value);
}

const dayOnly = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const withYear = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

/** Formats a day: `Mar 1, 2026`. */
export function dayText(at: string): string {
  return withYear.format(new Date(at));
}

/** How many days lie between two labels. */
const tickStep = 7;

export interface DayTick {
  readonly at: number;
  readonly text: string;
  readonly anchor: 'start' | 'middle' | 'end';
}

/** The labels of an axis of days: the first day, one per week, and today, without overlaps. */
export function dayTicks(days: readonly string[]): readonly DayTick[] {
  const last = days.length - 1;
  const ticks: DayTick[] = [];
  for (let at = 0; at <= last - tickStep + 2; at += tickStep) {
    ticks.push({ at, text: dayOnly.format(new Date(days[at] ?? '')), anchor: at === 0 ? 'start' : 'middle' });
  }
  return [...ticks, { at: last, text: 'Today', anchor: 'end' }];
}
