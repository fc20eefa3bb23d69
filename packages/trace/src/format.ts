const units = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
] as const;

/** Nanoseconds for people, rounded to about three digits: `412 ns`, `3.07 µs`, `12.8 ms`. */
export function formatDuration(nanoseconds: number): string {
  // A value that rounds to 1,000 is 1 of the next unit.
  const unit = units.find(([size]) => nanoseconds >= size * 0.9995);
  if (unit === undefined) return `${Math.round(nanoseconds)} ns`;
  const value = nanoseconds / unit[0];
  return `${value >= 1000 ? formatCount(Math.round(value)) : value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${unit[1]}`;
}

/** A place on an axis whose marks stand `step` apart, in nanoseconds: `0`, `2.5 ms`, `12.3457 ms`. */
export function formatMark(nanoseconds: number, step: number): string {
  if (nanoseconds === 0) return '0';
  const [size, unit] = units.find(([least]) => nanoseconds >= least) ?? [1, 'ns'];
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(nanoseconds / size).toFixed(digits)} ${unit}`;
}

const thousands = new Intl.NumberFormat('en-US');

/** A number with thousands separators: `28,277`. */
export function formatCount(value: number): string {
  return thousands.format(value);
}

/** `1 call`, `2 calls`. */
export function countOf(number: number, one: string): string {
  return `${formatCount(number)} ${number === 1 ? one : `${one}s`}`;
}

/** A share for people: `34.5 %`. */
export function formatShare(part: number, whole: number): string {
  return `${whole <= 0 ? '0.0' : ((part / whole) * 100).toFixed(1)} %`;
}

/** Pages of 64 KiB as a size: `64 KiB`, `1.5 MiB`. */
export function formatPages(pages: number): string {
  const kibibytes = pages * 64;
  if (kibibytes < 1024) return `${kibibytes} KiB`;
  const mebibytes = kibibytes / 1024;
  return mebibytes < 1024 ? `${trimmed(mebibytes)} MiB` : `${trimmed(mebibytes / 1024)} GiB`;
}

function trimmed(value: number): string {
  return value.toFixed(2).replace(/\.?0+$/, '');
}

/** Round positions for marks on an axis, at most `most + 1`. */
export function axisMarks(from: number, to: number, most: number): { readonly marks: number[]; readonly step: number } {
  const span = to - from;
  if (!(span > 0) || most < 1) return { marks: [], step: 1 };
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  return { marks: Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step), step };
}
