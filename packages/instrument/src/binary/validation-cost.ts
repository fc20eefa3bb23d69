import { tooComplex } from '../errors.ts';
import { freeWidth, maxCheckedValues } from '../limits.ts';
import { peekU32 } from './skip.ts';

/**
 * The work of an engine's validator that isn't proportional to a module's size. A few bytes can make it check thousands of
 * values: a call with a thousand parameters, a structure of ten thousand fields, a function of fifty thousand locals. The
 * sum is limited, so that the time to validate a module is bounded by a multiple of its size.
 */
export interface ValidationCost {
  /** By type index: parameters and results of a function type, fields of a structure, 0 of an array. */
  readonly typeWidths: Uint32Array;
  /** The number of values of the widest tag. */
  readonly widestTag: number;
  /** The values counted so far. */
  checkedValues: number;
}

/**
 * The cost of a value of a block type, relative to a value of a call: it is checked at the block's start and end, and kept
 * in between. Measured with V8.
 */
const blockFactor = 20;

/**
 * Counts values that an engine checks for an instruction. Up to `freeWidth` are not counted.
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

/** Counts the values of a type that an instruction names. */
export function countType(cost: ValidationCost, typeIndex: number, offset: number): void {
  countValues(cost, cost.typeWidths[typeIndex] ?? 0, offset);
}

/**
 * Counts the values of the block type at an offset.
 *
 * @returns the number of values that a branch to the block may carry
 */
export function countBlock(cost: ValidationCost, source: Uint8Array, at: number, end: number): number {
  const byte = source[at] as number;
  if (byte >= 0x40 && byte < 0x80) return 1;
  const width = cost.typeWidths[peekU32(source, at, end, 0)] ?? 0;
  if (width > freeWidth) countValues(cost, blockFactor * width, at);
  return width;
}

/** Counts the branches of a body, of two bytes each, as if each carried the values of the widest block. */
export function countBranches(cost: ValidationCost, bodyBytes: number, widestBlock: number, offset: number): void {
  if (widestBlock > freeWidth) countValues(cost, (bodyBytes / 2) * widestBlock, offset);
}

/** Engines reject a function of more locals without creating them. */
export const maxLocals = 50_000;

/** Counts parameters, results and locals of a function whose body starts at `offset`. */
export function countLocals(cost: ValidationCost, locals: number, typeIndex: number, offset: number): void {
  const values = locals + (cost.typeWidths[typeIndex] ?? 0);
  if (values <= maxLocals) countValues(cost, values, offset);
}

/** Whether a block with a wide type may take two bytes, which the fast path of the scan can't tell from other blocks. */
export function hasWideShortType({ typeWidths }: ValidationCost): boolean {
  return typeWidths.subarray(0, 0x40).some((width) => width > freeWidth);
}
