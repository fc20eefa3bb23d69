import { InvalidArgumentError } from 'commander';

const unitMicroseconds = { us: 1, ms: 1e3, s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6 };
const dayMs = 86_400_000;

const example = 'It takes a number and a unit (us, ms, s, m, h, d): 20us, 60s, 12h, 90d.';

const duration = /^(\d{1,12}(?:\.\d{1,6})?)(us|ms|s|m|h|d)$/;

export function isDuration(text: string): boolean {
  return duration.test(text);
}

/** Microseconds of a duration as the command line writes it: `20us`, `60s`, `12h`, `90d`, or `0`. */
export function parseMicroseconds(text: string): number {
  if (text === '0') return 0;
  const [, number, unit] = duration.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError(example);
  return Number(number) * unitMicroseconds[unit as keyof typeof unitMicroseconds];
}

/** Like {@link parseMicroseconds}, in milliseconds. */
export function parseDuration(text: string): number {
  return parseMicroseconds(text) / 1000;
}

/** For `--timeout`: milliseconds, more than 0 and at most a day. */
export function parseTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms <= 0 || ms > dayMs) throw new InvalidArgumentError('It takes more than 0 and at most 1d.');
  return ms;
}

/** For `--expires-in`: whole days, which is how the server counts lifetimes. */
export function parseLifetimeDays(text: string): number {
  const days = parseDuration(text) / dayMs;
  if (!Number.isInteger(days) || days < 1 || days > 3650) {
    throw new InvalidArgumentError('It takes whole days, from 1d to 3650d.');
  }
  return days;
}

/** A duration with the largest unit that shows it as a whole number: `90s`, `12h`. */
export function formatDuration(ms: number): string {
  const microseconds = ms * 1000;
  const units = Object.entries(unitMicroseconds).reverse();
  const [unit, size] = units.find(([, each]) => Number.isInteger(microseconds / each)) ?? ['us', 1];
  return `${microseconds / size}${unit}`;
}
