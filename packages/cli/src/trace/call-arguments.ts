import { usageError } from '../errors.ts';
import { count, printable } from '../text.ts';

/** A number as an export takes it: a bigint for `i64`. */
export type CallArgument = number | bigint;

/**
 * Reads the arguments of a call by the types of the export's parameters.
 *
 * @throws CliError `usage`, which names the argument
 */
export function parseArguments(name: string, types: readonly string[], texts: readonly string[]): CallArgument[] {
  if (texts.length !== types.length) {
    const wanted = types.length === 0 ? 'no argument' : `${count(types.length, 'argument')} (${types.join(', ')})`;
    throw usageError(`${printable(name)} takes ${wanted}, and ${texts.length} came.`, 'Arguments stand behind "--".');
  }
  return types.map((type, at) => parseArgument(type, texts[at] as string, at + 1));
}

function parseArgument(type: string, text: string, position: number): CallArgument {
  const refuse = (wanted: string) =>
    usageError(`Argument ${position} is ${type}: it takes ${wanted}, and "${printable(text)}" came.`);
  if (type === 'i32' || type === 'i64') {
    const bits = type === 'i32' ? 32 : 64;
    const value = parseInteger(text);
    if (value === undefined || value < -(1n << BigInt(bits - 1)) || value >= 1n << BigInt(bits)) {
      throw refuse(`a whole number of ${bits} bits, decimal or 0x…`);
    }
    return type === 'i32' ? Number(BigInt.asIntN(32, value)) : BigInt.asIntN(64, value);
  }
  if (type === 'f32' || type === 'f64') {
    const value = parseFloatingPoint(text);
    if (value === undefined) throw refuse('a number');
    return value;
  }
  throw usageError(`Argument ${position} is ${type}, which can not be given on a command line.`);
}

function parseInteger(text: string): bigint | undefined {
  const parts = /^([+-]?)(0x[0-9a-f]+|[0-9]+)$/i.exec(text);
  if (parts === null) return undefined;
  const size = BigInt(parts[2] as string);
  return parts[1] === '-' ? -size : size;
}

function parseFloatingPoint(text: string): number | undefined {
  if (/^[+-]?(inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  return text.trim() === text && text !== '' && !Number.isNaN(Number(text)) ? Number(text) : undefined;
}

/** What a call answered, a line each value; nothing for nothing. */
export function formatResults(value: unknown): string {
  if (value === undefined) return '';
  const values = Array.isArray(value) ? value : [value];
  return values.map((one) => `${formatResult(one)}\n`).join('');
}

function formatResult(value: unknown): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'bigint') return String(value);
  return value === null ? 'null' : `[${typeof value}]`;
}
