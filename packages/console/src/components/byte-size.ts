const units = ['bytes', 'kB', 'MB', 'GB'] as const;

/** A size as people read it, in decimal units as file managers have them: `940 bytes`, `18.2 kB`, `1.05 MB`. */
export function byteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // What would be rounded up to a thousand belongs to the next unit.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${value.toPrecision(3)} ${units[unit]}`;
}
