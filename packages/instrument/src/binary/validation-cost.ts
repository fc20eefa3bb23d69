import { tooComplex } from '../errors.ts';
import { freeWidth, maxCheckedValues } from '../limits.ts';
import { peekU32 } from './skip.ts';

/**
 * What an engine's validator does with a module beyond looking at each of its bytes. A few bytes can make it check thousands of
 * values: a call of a function with a thousand parameters, a structure of ten thousand fields, a function of fifty thousand locals.
 * The sum is bounded, so that the time to validate a module is bounded by a multiple of its size.
 */
export interface ValidationCost {
  /** By type index: parameters and results of a function type, fields of a structure, 0 of an array. */
  readonly typeWidths: Uint32Array;
  /** The most values that one tag carries. */
  readonly widestTag: number;
  /** The values that have been counted so far. */
  checkedValues: number;
}

/**
 * What engines do for each value of a block's type, by what they do for a value of a call: it is checked at the block's start and at its
 * end, and kept in between. Measured with V8.
 */
const blockFactor = 20;

/**
 * Counts values that an instruction has the engine check. A few are no more than other instructions take, and are not counted.
 *
 * @throws InstrumentError `module_too_complex`
 */
export function countValues(cost: ValidationCost, values: number, offset: number): void {
  if (values <= freeWidth) return;
  cost.checkedValues += values;
  if (cost.checkedValues > maxCheckedValues) {
    throw tooComplex(
      'values for an engine to check (locals, and what wide calls, blocks, branches and structures pass on)',
      cost.checkedValues,
      maxCheckedValues,
      offset,
    );
  }
}

/** Counts the values of a type that an instruction names; a type that doesn't exist has none. */
export function countType(cost: ValidationCost, typeIndex: number, offset: number): void {
  countValues(cost, cost.typeWidths[typeIndex] ?? 0, offset);
}

/**
 * Counts a block of the type that stands at an offset.
 *
 * @returns how many values a branch to it may pass on
 */
export function countBlock(cost: ValidationCost, source: Uint8Array, at: number, end: number): number {
  const byte = source[at] as number;
  if (byte >= 0x40 && byte < 0x80) return 1;
  const width = cost.typeWidths[peekU32(source, at, end, 0)] ?? 0;
  if (width > freeWidth) countValues(cost, blockFactor * width, at);
  return width;
}

/** Counts the branches of a body, each of which may pass on what its widest block does: a branch takes two bytes. */
export function countBranches(cost: ValidationCost, bodyBytes: number, widestBlock: number, offset: number): void {
  if (widestBlock > freeWidth) countValues(cost, (bodyBytes / 2) * widestBlock, offset);
}

/** More locals than this make a function invalid, before an engine has made one of them. */
const maxLocals = 50_000;

/** Counts parameters, results and locals of a function whose body starts at `offset`. */
export function countLocals(cost: ValidationCost, locals: number, typeIndex: number, offset: number): void {
  const values = locals + (cost.typeWidths[typeIndex] ?? 0);
  if (values <= maxLocals) countValues(cost, values, offset);
}

/** Whether a block of a wide type may be written in two bytes, where the fast scan takes it for any other block. */
export function hasWideShortType({ typeWidths }: ValidationCost): boolean {
  return typeWidths.subarray(0, 0x40).some((width) => width > freeWidth);
}
