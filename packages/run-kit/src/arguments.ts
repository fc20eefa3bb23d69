/** A value that an exported function takes: a bigint for `i64`, `null` for a reference. */
export type Argument = number | bigint | null;

/** The value, or a description of what the type accepts. */
export type ParsedArgument = { readonly value: Argument } | { readonly expected: string };

const numberTypes = new Set(['i32', 'i64', 'f32', 'f64']);

/** Whether a caller writes a value for a parameter of the type. Parameters of nullable reference types get `null`. */
export function takesValue(type: string): boolean {
  return numberTypes.has(type);
}

/** Why JavaScript can't call a function of these types with written values; `undefined` if it can. */
export function whyNotCallable(params: readonly string[], results: readonly string[]): string | undefined {
  if ([...params, ...results].includes('v128')) return 'JavaScript can’t pass values of type v128.';
  const other = params.find((type) => !takesValue(type) && !isNullable(type));
  return other === undefined ? undefined : `It takes a value of type ${other}, which has no written form.`;
}

function isNullable(type: string): boolean {
  return type.startsWith('(ref null ') || (type.endsWith('ref') && !type.startsWith('('));
}

/**
 * Parses a written value. Integers are decimal, or begin with `0x`, `0o` or `0b`, and may be unsigned: 4294967295 is -1
 * as an `i32`. Floating-point numbers may be `inf` or `nan`. Underscores may separate digits.
 */
export function parseArgument(type: string, text: string): ParsedArgument {
  if (!takesValue(type)) return { value: null };
  const written = text.trim();
  const plain = /^_|__|_$/.test(written) ? '' : written.replaceAll('_', '');
  return type === 'i32' || type === 'i64' ? parseInteger(type, plain) : parseFloatingPoint(plain);
}

function parseInteger(type: 'i32' | 'i64', text: string): ParsedArgument {
  const bits = type === 'i32' ? 32 : 64;
  const [, sign, digits] = /^([+-]?)(\d+|0x[0-9a-f]+|0b[01]+|0o[0-7]+)$/i.exec(text) ?? [];
  if (digits === undefined) return { expected: 'an integer, such as 42, -1 or 0xff' };
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits);
  const [least, most] = [-(1n << BigInt(bits - 1)), (1n << BigInt(bits)) - 1n];
  if (value < least || value > most) return { expected: `an integer of ${bits} bits, from ${least} to ${most}` };
  return { value: bits === 32 ? Number(BigInt.asIntN(32, value)) : BigInt.asIntN(64, value) };
}

function parseFloatingPoint(text: string): ParsedArgument {
  const expected = 'a number, such as 1.5, -2e9, inf or nan';
  if (/^nan$/i.test(text)) return { value: Number.NaN };
  const value = Number(text.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'));
  return text === '' || Number.isNaN(value) ? { expected } : { value };
}

/** Formats a result. References have no written form, so only their kind is given. */
export function formatValue(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'number' || typeof value === 'bigint' || value === null) return `${value}`;
  return typeof value === 'function' ? 'a function' : 'a reference';
}
