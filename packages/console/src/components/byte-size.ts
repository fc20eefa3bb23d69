const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** Formats a size: `940 bytes`, `17.8 KiB`, `1.05 MiB`. */
export function byteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // What would be rounded up to 1024 belongs to the next unit.
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[unit]}`;
}

/** Formats two different sizes, in bytes if `byteSize()` returns the same text for both. */
export function byteSizes(one: number, other: number): readonly [string, string] {
  const exact = (bytes: number): string => `${bytes.toLocaleString('en')} bytes`;
  const rounded = [byteSize(one), byteSize(other)] as const;
  return rounded[0] === rounded[1] ? [exact(one), exact(other)] : rounded;
}
