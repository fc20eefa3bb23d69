import { emptyBlock, f64Op, i32Op, Op } from '../binary/opcodes.ts';
import { peekU32, skipLeb } from '../binary/skip.ts';
import { f64Type } from '../binary/types.ts';
import { putS32, putU32, s32Length, u32Length } from '../binary/writer.ts';
import type { AdaptiveLayout } from './adaptive.ts';
import { hookCallLength, putHookCall } from './exit-guard.ts';
import type { Layout } from './layout.ts';

/**
 * The code that reports the start and the end of a function of the module: a call of the hook, or in an adaptive module the
 * code that `adaptive.ts` shows. Functions are given by their index in the output.
 */

/** An adaptive function's constants. */
interface Skipping {
  readonly adaptive: AdaptiveLayout;
  readonly skipGlobal: number;
  readonly sinceLocal: number;
}

/** `undefined` for a function that always calls its hooks. */
function skippingOf({ adaptive, importCount, shift }: Layout, index: number): Skipping | undefined {
  if (adaptive === undefined) return undefined;
  const body = index - importCount - shift;
  const skipGlobal = adaptive.skipGlobals[body] ?? 0;
  return skipGlobal === 0 ? undefined : { adaptive, skipGlobal, sinceLocal: adaptive.sinceLocals[body] as number };
}

export function enterLength(layout: Layout, index: number): number {
  const hook = hookCallLength(index, layout.enterIndex);
  const skipping = skippingOf(layout, index);
  if (skipping === undefined) return hook;
  const { adaptive, skipGlobal, sinceLocal } = skipping;
  const skip = 1 + u32Length(skipGlobal);
  const reload = adaptive.every === 1 ? 0 : 1 + s32Length(adaptive.every - 1) + skip;
  const clock = 1 + u32Length(adaptive.clockGlobal);
  return 3 * skip + 2 * clock + 2 + u32Length(adaptive.stepGlobal) + u32Length(sinceLocal) + 8 + hook + reload;
}

/** Writes the code at the start of a function. */
export function putEnter(out: Uint8Array, start: number, layout: Layout, index: number): number {
  const skipping = skippingOf(layout, index);
  if (skipping === undefined) return putHookCall(out, start, index, layout.enterIndex);
  const { adaptive, skipGlobal, sinceLocal } = skipping;
  let at = put(out, start, Op.globalGet, skipGlobal);
  out[at++] = Op.if;
  out[at++] = emptyBlock;
  at = put(out, at, Op.globalGet, skipGlobal);
  out[at++] = i32Op.const;
  out[at++] = 1;
  out[at++] = i32Op.sub;
  at = put(out, at, Op.globalSet, skipGlobal);
  at = put(out, at, Op.globalGet, adaptive.clockGlobal);
  at = put(out, at, Op.localTee, sinceLocal);
  at = put(out, at, Op.globalGet, adaptive.stepGlobal);
  out[at++] = f64Op.add;
  at = put(out, at, Op.globalSet, adaptive.clockGlobal);
  out[at++] = Op.else;
  at = putHookCall(out, at, index, layout.enterIndex);
  if (adaptive.every !== 1) {
    out[at++] = i32Op.const;
    at = putS32(out, at, adaptive.every - 1);
    at = put(out, at, Op.globalSet, skipGlobal);
  }
  out[at++] = Op.end;
  return at;
}

/** The length of the code of an exit path. */
export function exitLength(layout: Layout, index: number): number {
  const skipping = skippingOf(layout, index);
  if (skipping === undefined) return hookCallLength(index, layout.exitIndex);
  const { adaptive, sinceLocal } = skipping;
  const { clockGlobal, minDurationGlobal } = adaptive;
  const globals = u32Length(clockGlobal) + u32Length(minDurationGlobal);
  return 8 + globals + u32Length(sinceLocal) + helperCallLength(skipping, index);
}

/** Writes the code of an exit path at the end of a function. */
export function putExit(out: Uint8Array, start: number, layout: Layout, index: number): number {
  const skipping = skippingOf(layout, index);
  if (skipping === undefined) return putHookCall(out, start, index, layout.exitIndex);
  let at = put(out, start, Op.globalGet, skipping.adaptive.clockGlobal);
  at = put(out, at, Op.localGet, skipping.sinceLocal);
  out[at++] = f64Op.sub;
  at = put(out, at, Op.globalGet, skipping.adaptive.minDurationGlobal);
  out[at++] = f64Op.ge;
  out[at++] = Op.if;
  out[at++] = emptyBlock;
  at = putHelperCall(out, at, skipping, index);
  out[at++] = Op.end;
  return at;
}

/** The length of the code before a tail call. */
export function tailExitLength(layout: Layout, index: number): number {
  const skipping = skippingOf(layout, index);
  return skipping === undefined ? hookCallLength(index, layout.exitIndex) : helperCallLength(skipping, index);
}

/** Writes the code before a tail call: without a block, which would shift the index of each label after it. */
export function putTailExit(out: Uint8Array, start: number, layout: Layout, index: number): number {
  const skipping = skippingOf(layout, index);
  if (skipping === undefined) return putHookCall(out, start, index, layout.exitIndex);
  return putHelperCall(out, start, skipping, index);
}

function helperCallLength({ adaptive, sinceLocal }: Skipping, index: number): number {
  return 1 + u32Length(sinceLocal) + hookCallLength(index, adaptive.exitHelperIndex);
}

function putHelperCall(out: Uint8Array, at: number, { adaptive, sinceLocal }: Skipping, index: number): number {
  return putHookCall(out, put(out, at, Op.localGet, sinceLocal), index, adaptive.exitHelperIndex);
}

function put(out: Uint8Array, at: number, opcode: number, operand: number): number {
  out[at] = opcode;
  return putU32(out, at + 1, operand);
}

/** 1 if the function has the local variable and the block that an adaptive function adds. */
export function addedLocals(layout: Layout, index: number): 0 | 1 {
  return skippingOf(layout, index) === undefined ? 0 : 1;
}

/** How many bytes longer the declarations of locals get. */
export function addedLocalsLength(layout: Layout, index: number, source: Uint8Array, start: number): number {
  if (addedLocals(layout, index) === 0) return 0;
  const { runs, runsLength } = readRunCount(source, start);
  return u32Length(runs + 1) - runsLength + localRun.length;
}

/** Writes the number of runs of locals, with the added one. Its run follows the others: {@link localRun}. */
export function putRunCount(
  out: Uint8Array,
  at: number,
  source: Uint8Array,
  start: number,
): { readonly at: number; readonly copied: number } {
  const { runs, runsLength } = readRunCount(source, start);
  return { at: putU32(out, at, runs + 1), copied: start + runsLength };
}

/** One local of type `f64`. */
export const localRun: readonly number[] = [1, f64Type];

function readRunCount(source: Uint8Array, start: number) {
  return { runs: peekU32(source, start, source.length, 0), runsLength: skipLeb(source, start, 5, 0) - start };
}
