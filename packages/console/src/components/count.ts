const numbers = new Intl.NumberFormat('en');

/** Formats an integer: `12,345`. */
export function count(value: number | bigint): string {
  return numbers.format(value);
}

/** Formats a count with its noun: `1 function`, `12,345 functions`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
