/** What is handed to an exported function. */
export type Argument = number | bigint | null;

/** Types of parameters of which one can write a value. */
const numberTypes = new Set(['i32', 'i64', 'f32', 'f64']);

/**
 * Why an export can't be called from here; `undefined` where it can. `v128` is nothing that JavaScript has, and of references there is
 * `null` alone.
 */
export function whyNotCallable(params: readonly string[], results: readonly string[]): string | undefined {
  if ([...params, ...results].includes('v128')) return 'JavaScript has no v128, so it can’t be called from here.';
  const other = params.find((type) => !numberTypes.has(type) && !isNullable(type));
  return other === undefined ? undefined : `It takes ${other}, of which nothing can be written here.`;
}

/** Whether a value has to be written for a parameter of the type; others get `null`. */
export function isWritten(type: string): boolean {
  return numberTypes.has(type);
}

function isNullable(type: string): boolean {
  return type.startsWith('(ref null ') || (type.endsWith('ref') && !type.startsWith('('));
}

/** Reads what somebody wrote for a parameter, or says what is wrong with it. */
export function readArgument(type: string, text: string): { readonly value: Argument } | { readonly fault: string } {
  const trimmed = text.trim().replaceAll('_', '');
  if (type === 'i32' || type === 'i64') return readInteger(type === 'i32' ? 32n : 64n, trimmed);
  if (type === 'f32' || type === 'f64') {
    const value =
      trimmed.toLowerCase() === 'nan' ? Number.NaN : Number(trimmed.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'));
    const isFine = trimmed !== '' && (!Number.isNaN(value) || trimmed.toLowerCase() === 'nan');
    return isFine ? { value } : { fault: 'A number, such as 1.5, -2e9, inf or nan.' };
  }
  return { value: null };
}

function readInteger(bits: bigint, text: string): { readonly value: Argument } | { readonly fault: string } {
  const [, sign, digits] = /^([+-]?)(\d+|0x[0-9a-f]+|0b[01]+|0o[0-7]+)$/i.exec(text) ?? [];
  if (digits === undefined) return { fault: 'A whole number, such as 42, -1 or 0xff.' };
  const value = (sign === '-' ? -1n : 1n) * BigInt(digits);
  const [least, most] = [-(1n << (bits - 1n)), (1n << bits) - 1n];
  if (value < least || value > most) return { fault: `A whole number of ${bits} bits: from ${least} to ${most}.` };
  return { value: bits === 32n ? Number(value) : value };
}

/** Results as people read them, with their types; `nothing` where there are none. */
export function showResults(results: readonly string[], returned: unknown): string {
  if (results.length === 0) return 'nothing';
  const values = results.length === 1 ? [returned] : Array.from(returned as Iterable<unknown>);
  return values.map((value, at) => `${showValue(value)} (${results[at]})`).join(', ');
}

function showValue(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint')
    return `${value}`;
  return typeof value === 'function' ? 'a function' : `a reference`;
}
