import { emptyBlock, i64Op, Op } from '../binary/opcodes.ts';
import { putS32, putU32, s32Length, u32Length } from '../binary/writer.ts';
import { counterExport } from '../coverage/coverage-map.ts';
import { blockProbe, type CodeBlocks, chargeProbes } from '../scan/find-blocks.ts';
import type { ProbePlan } from './plan-probes.ts';

/** The hook that a module calls when its fuel is used up. */
export const outOfFuelHook = 'out-of-fuel';

/** The export of the global with the remaining fuel, a mutable i64. */
export const fuelExport = 'tenon:fuel';

/**
 * What the code before each basic block does: it counts the block, and it takes the block's cost from the fuel.
 *
 *     global.get COUNTER  i64.const 1     i64.add  global.set COUNTER
 *     global.get FUEL     i64.const COST  i64.sub  global.set FUEL
 *     global.get FUEL     i64.const 0     i64.lt_s  if  call $out-of-fuel  end      ;; or unreachable
 *
 * The last line stands only at the start of each loop, and of each body that calls a function: no cycle avoids it.
 */
export interface Probes {
  readonly blocks: CodeBlocks;
  /** Per body, 1 if its blocks are not counted. */
  readonly uncounted: Uint8Array;
  /** The global of the first block's counter; -1 without coverage. */
  readonly firstCounter: number;
  /** The global with the fuel; -1 without. */
  readonly fuelGlobal: number;
  /** The helper that calls the host when the fuel is used up; -1 for a trap. */
  readonly outOfFuelIndex: number;
  /** The helpers that charge for a size, by their probe. */
  readonly chargeIndexes: readonly number[];
  /** The function that returns a counter; -1 without coverage. */
  readonly countIndex: number;
}

/** The fuel's global comes before the counters', and its functions before those that return counters. */
export function layOutProbes(plan: ProbePlan, firstGlobal: number, firstFunction: number): Probes {
  const { blocks, uncounted, hasCoverage, fuel, callsHost } = plan;
  const hasFuel = fuel !== undefined;
  const chargeIndex = firstFunction + (callsHost ? 1 : 0);
  return {
    blocks,
    uncounted,
    firstCounter: hasCoverage ? firstGlobal + (hasFuel ? 1 : 0) : -1,
    fuelGlobal: hasFuel ? firstGlobal : -1,
    outOfFuelIndex: callsHost ? firstFunction : -1,
    chargeIndexes: hasFuel ? [chargeIndex + chargeProbes.i32, chargeIndex + chargeProbes.i64] : [],
    countIndex: hasCoverage ? chargeIndex + (hasFuel ? 2 : 0) : -1,
  };
}

/** An export that the rewriter adds, with its kind's number in the binary format. */
export interface AddedExport {
  readonly name: string;
  readonly kind: 0 | 3;
  readonly index: number;
}

export function probeExports(probes: Probes | undefined): AddedExport[] {
  const exports: AddedExport[] = [];
  if (probes === undefined) return exports;
  if (probes.fuelGlobal !== -1) exports.push({ name: fuelExport, kind: 3, index: probes.fuelGlobal });
  if (probes.countIndex !== -1) exports.push({ name: counterExport, kind: 0, index: probes.countIndex });
  return exports;
}

/** The length of the code that {@link putProbe} writes. */
export function probeLength(probes: Probes, body: number, probe: number): number {
  const { blocks, firstCounter, fuelGlobal, outOfFuelIndex } = probes;
  if (probe < blockProbe) return 1 + u32Length(probes.chargeIndexes[probe] as number);
  const block = probe - blockProbe;
  let length = 0;
  if (isCounted(probes, body)) length += 5 + 2 * u32Length(firstCounter + block);
  const cost = blocks.cost(block);
  if (fuelGlobal === -1 || cost === 0) return length;
  length += 4 + s32Length(cost) + 2 * u32Length(fuelGlobal);
  if (!blocks.isCycleStart(block)) return length;
  return length + 7 + u32Length(fuelGlobal) + (outOfFuelIndex === -1 ? 1 : 1 + u32Length(outOfFuelIndex));
}

/** Writes a probe of a body, which leaves the operand stack as it is, and returns the offset after it. */
export function putProbe(out: Uint8Array, start: number, probes: Probes, body: number, probe: number): number {
  const { blocks, firstCounter, fuelGlobal } = probes;
  if (probe < blockProbe) {
    out[start] = Op.call;
    return putU32(out, start + 1, probes.chargeIndexes[probe] as number);
  }
  const block = probe - blockProbe;
  let at = start;
  if (isCounted(probes, body)) at = putAddition(out, at, firstCounter + block, i64Op.add, 1);
  const cost = blocks.cost(block);
  if (fuelGlobal === -1 || cost === 0) return at;
  at = putAddition(out, at, fuelGlobal, i64Op.sub, cost);
  return blocks.isCycleStart(block) ? putFuelCheck(out, at, probes) : at;
}

/** Whether the probes of a body count its blocks. */
export function isCounted({ firstCounter, uncounted }: Probes, body: number): boolean {
  return firstCounter !== -1 && uncounted[body] === 0;
}

/** For each probe of a body that adds a label, in order, how many labels of the input's body come before it. */
export function labelsBeforeChecks({ blocks, fuelGlobal }: Probes, body: number): number[] {
  if (fuelGlobal === -1) return [];
  const labels: number[] = [];
  for (let block = blocks.firstBlocks[body] as number; block < (blocks.firstBlocks[body + 1] as number); block++) {
    if (blocks.cost(block) > 0 && blocks.isCycleStart(block)) labels.push(blocks.labels(block));
  }
  return labels;
}

function putAddition(out: Uint8Array, start: number, global: number, operator: number, value: number): number {
  out[start] = Op.globalGet;
  let at = putU32(out, start + 1, global);
  out[at++] = i64Op.const;
  at = putS32(out, at, value);
  out[at++] = operator;
  out[at++] = Op.globalSet;
  return putU32(out, at, global);
}

/** Writes the code that ends the program, or calls the host, if the fuel is below zero. */
export function putFuelCheck(out: Uint8Array, start: number, probes: Probes): number {
  out[start] = Op.globalGet;
  let at = putU32(out, start + 1, probes.fuelGlobal);
  out[at++] = i64Op.const;
  out[at++] = 0;
  out[at++] = i64Op.ltS;
  out[at++] = Op.if;
  out[at++] = emptyBlock;
  if (probes.outOfFuelIndex === -1) {
    out[at++] = Op.unreachable;
  } else {
    out[at++] = Op.call;
    at = putU32(out, at, probes.outOfFuelIndex);
  }
  out[at++] = Op.end;
  return at;
}
