import type { HostValue } from '@tenon/protocol';
import { RunFailure } from '../ending.ts';
import type { Kernel } from './kernel.ts';
import { fromBase64, toBase64 } from './sha256.ts';
import { isCutBytes, startOf, textOf } from './text.ts';

/*
 * Parameters and results of host functions, as a report and fixtures have them. An `i64` that is the address of a block of
 * memory stands for the block: the addresses of blocks are 2^48 or more, so other values don't look like one.
 */

/** The type of a value in the module's signature: `i32`, `i64`, `f32`, `f64`, or a reference. */
export type RawType = string;
export type RawValue = number | bigint;

/** Numbers that JSON doesn't have. */
const specialNumbers = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** A value that a module has passed, for the report. Calls `onCut` if a block is shortened. */
export function describeRaw(raw: unknown, kernel: Kernel, onCut: () => void): HostValue {
  if (typeof raw === 'bigint') {
    const bytes = blockOf(raw, kernel);
    if (bytes === undefined) return { i64: `${raw}` };
    if (isCutBytes(bytes)) onCut();
    const start = startOf(bytes);
    return 'text' in start ? start.text : start;
  }
  if (typeof raw !== 'number') return '(a reference)';
  return Number.isFinite(raw) ? raw : `${raw}`;
}

function blockOf(raw: bigint, { blocks, bytesAt }: Kernel): Uint8Array | undefined {
  return blocks.isBlock(raw) ? bytesAt(raw) : undefined;
}

/**
 * Compares a value that a module has passed with the expected one.
 *
 * @param isMemory whether the schema declares the parameter, which makes it a block with the encoded value
 */
export function matchesRaw(
  raw: unknown,
  type: RawType | undefined,
  expected: HostValue,
  kernel: Kernel,
  isMemory: boolean,
): boolean {
  if (typeof raw === 'number') {
    const wanted = typeof expected === 'string' ? specialNumbers.get(expected) : expected;
    return typeof wanted === 'number' && (Object.is(raw, wanted) || raw === wanted || isSame32(raw, wanted, type));
  }
  if (typeof raw !== 'bigint') return false;
  if (typeof expected === 'object' && 'i64' in expected) {
    return BigInt.asUintN(64, raw) === BigInt.asUintN(64, BigInt(expected.i64));
  }
  const bytes = blockOf(raw, kernel) ?? (raw === 0n ? new Uint8Array() : undefined);
  if (typeof expected === 'number') {
    if (isMemory && bytes !== undefined) return textOf(bytes)?.trim() === JSON.stringify(expected);
    return Number.isInteger(expected) && BigInt.asUintN(64, raw) === BigInt.asUintN(64, BigInt(expected));
  }
  return bytes !== undefined && equalBytes(bytes, bytesOf(expected));
}

/** Whether a number is what a parameter of 32 bits makes of the expected one: an unsigned integer, or a rounded number. */
function isSame32(raw: number, wanted: number, type: RawType | undefined): boolean {
  if (type === 'f32') return raw === Math.fround(wanted);
  return type === 'i32' && Number.isInteger(wanted) && Math.abs(wanted) < 2 ** 32 && raw === (wanted | 0);
}

/**
 * Converts a fixture's result to one of the module's type. Texts and bytes go into a new block.
 *
 * @throws RunFailure if the type can't hold it
 */
export function toRaw(
  value: HostValue | undefined,
  type: RawType | undefined,
  kernel: Kernel,
  isMemory: boolean,
): RawValue | undefined {
  if (type === undefined) return undefined;
  if (type === 'i64') {
    if (value === undefined) return 0n;
    if (typeof value === 'object' && 'i64' in value) return BigInt.asIntN(64, BigInt(value.i64));
    if (typeof value !== 'number') return kernel.blocks.put(bytesOf(value));
    if (isMemory) return kernel.blocks.put(bytesOf(JSON.stringify(value)));
    if (Number.isInteger(value)) return BigInt.asIntN(64, BigInt(value));
  } else if (type === 'i32' || type === 'f32' || type === 'f64') {
    const number = typeof value === 'string' ? specialNumbers.get(value) : (value ?? 0);
    if (typeof number === 'number' && (type !== 'i32' || Number.isInteger(number))) return number;
  }
  throw new RunFailure(`the fixture returns ${JSON.stringify(value)?.slice(0, 100)}, which is not an ${type}`);
}

type MemoryValue = Exclude<HostValue, number | { i64: string }>;

/** @throws RunFailure for text that should be base64 and is not */
export function bytesOf(value: MemoryValue): Uint8Array {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  try {
    return fromBase64(value.base64);
  } catch {
    throw new RunFailure(`expected base64, found ${JSON.stringify(value.base64.slice(0, 100))}`);
  }
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** A value as an error message shows it. */
export function shownValue(value: HostValue): string {
  const text =
    typeof value === 'object' && 'base64' in value
      ? `base64 ${JSON.stringify(value.base64)}`
      : typeof value === 'object'
        ? `i64 ${value.i64}`
        : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Bytes as an error message shows them. */
export function shownBytes(bytes: Uint8Array): string {
  const text = textOf(bytes.subarray(0, 1_000)) ?? (bytes.length > 1_000 ? textOf(bytes.subarray(0, 997)) : undefined);
  return shownValue(text ?? { base64: toBase64(bytes.subarray(0, 150)) });
}
