const numbers = new Intl.NumberFormat('en');

/** A whole number as people read it: `12,345`. */
export function count(value: number | bigint): string {
  return numbers.format(value);
}

/** How many of something: `1 function`, `12,345 functions`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
