import { emptyBlock, i32Op, i64Op, Op } from '../binary/opcodes.ts';
import { i32Type, i64Type } from '../binary/types.ts';
import { type ByteWriter, reserve, writeByte, writeU32 } from '../binary/writer.ts';
import type { ChargedSize } from '../scan/charged-sizes.ts';
import type { GeneratedFunction } from './instructions.ts';
import { writeInstructions, writeLocals } from './instructions.ts';
import type { Layout } from './layout.ts';
import { outOfFuelHook, type Probes, putFuelCheck } from './probes.ts';
import type { TypePool } from './type-pool.ts';

/** A bulk instruction costs 1 for each `2 ** sizeShift` bytes or elements, besides the 1 of every instruction. */
const sizeShift = 3;

/** The functions of coverage and fuel, in the order of the layout. */
export function probeFunctions(layout: Layout, types: TypePool): GeneratedFunction[] {
  const { probes, probed, hooks, importCount } = layout;
  if (probes === undefined || probed === undefined) return [];
  const functions: GeneratedFunction[] = [];
  if (probes.outOfFuelIndex !== -1) {
    functions.push(outOfFuel(types, probes, importCount + hooks.findIndex(({ name }) => name === outOfFuelHook)));
  }
  if (probes.fuelGlobal !== -1) functions.push(chargeSize(types, probes, 'i32'), chargeSize(types, probes, 'i64'));
  if (probes.firstCounter !== -1) {
    functions.push(...countReaders(types, probed.counterCount, probes.firstCounter, probes.countIndex));
  }
  return functions;
}

/** Calls the host, and traps unless it has added fuel. */
function outOfFuel(types: TypePool, probes: Probes, hookIndex: number): GeneratedFunction {
  const trap: Probes = { ...probes, outOfFuelIndex: -1 };
  const writeBody = (writer: ByteWriter) => {
    writeByte(writer, 0); // no locals
    writeInstructions(writer, [Op.call, hookIndex]);
    writeFuelCheck(writer, trap);
    writeByte(writer, Op.end);
  };
  return { typeIndex: types.intern([], []), name: 'tenon.out-of-fuel', writeBody };
}

/** The highest charge: for 16 GiB. An instruction with a larger size traps in most engines, and must not take all fuel. */
const maxCharge = 2 ** 31 - 1;

/** Takes the cost of a bulk instruction of a size from the fuel, and returns the size. */
function chargeSize(types: TypePool, probes: Probes, size: ChargedSize): GeneratedFunction {
  const type = size === 'i32' ? i32Type : i64Type;
  const writeBody = (writer: ByteWriter) => {
    writeLocals(writer, [i64Type]);
    writeInstructions(writer, [Op.globalGet, probes.fuelGlobal], [Op.localGet, 0]);
    if (size === 'i32') writeInstructions(writer, [Op.i64ExtendI32U]);
    writeInstructions(writer, [i64Op.const, sizeShift], [i64Op.shrU], [Op.localTee, 1], [i64Op.const, maxCharge]);
    writeInstructions(writer, [Op.localGet, 1], [i64Op.const, maxCharge], [i64Op.ltU], [Op.select]);
    writeInstructions(writer, [i64Op.sub], [Op.globalSet, probes.fuelGlobal]);
    writeFuelCheck(writer, probes);
    writeInstructions(writer, [Op.localGet, 0], [Op.end]);
  };
  return { typeIndex: types.intern([type], [type]), name: `tenon.charge(${size})`, writeBody };
}

function writeFuelCheck(writer: ByteWriter, probes: Probes): void {
  reserve(writer, 24);
  writer.length = putFuelCheck(writer.bytes, writer.length, probes);
}

/** The number of bits of a counter's index that one function takes. */
const fanOutBits = 7;
const fanOut = 1 << fanOutBits;

/**
 * Functions that return a counter by its index. Exporting each counter's global instead would make an object per counter in
 * every instance. The first one is the root of a tree whose functions take a few bits of the index each, and whose leaves
 * read the globals.
 */
function countReaders(
  types: TypePool,
  counterCount: number,
  firstCounter: number,
  firstFunction: number,
): GeneratedFunction[] {
  // The numbers of functions by level, from the leaves to the root.
  const widths = [Math.max(1, Math.ceil(counterCount / fanOut))];
  for (let width = widths[0] as number; width > 1; widths.push(width)) width = Math.ceil(width / fanOut);
  const typeIndex = types.intern([i32Type], [i64Type]);
  let next = firstFunction;
  const starts = widths
    .toReversed()
    .map((width) => {
      next += width;
      return next - width;
    })
    .toReversed();
  const functions = widths.map((width, level) =>
    Array.from({ length: width }, (_, place): GeneratedFunction => {
      const below = level === 0 ? counterCount : (widths[level - 1] as number);
      const branches = Math.max(0, Math.min(fanOut, below - place * fanOut));
      const first = (level === 0 ? firstCounter : (starts[level - 1] as number)) + place * fanOut;
      const selector = [[Op.localGet, 0], [i32Op.const, level * fanOutBits], [i32Op.shrU]];
      // The root rejects an index beyond the counters.
      if (level < widths.length - 1) selector.push([i32Op.const, fanOut - 1], [i32Op.and]);
      const writeBody = (writer: ByteWriter) => {
        writeBranches(writer, selector, branches, (branch) => {
          if (level === 0) writeInstructions(writer, [Op.globalGet, first + branch]);
          else writeInstructions(writer, [Op.localGet, 0], [Op.call, first + branch]);
        });
      };
      return { typeIndex, name: 'tenon.count', writeBody };
    }),
  );
  return functions.toReversed().flat();
}

/** Writes a body that returns what the selected branch leaves on the stack, and traps beyond the last branch. */
function writeBranches(
  writer: ByteWriter,
  selector: readonly (readonly number[])[],
  branches: number,
  writeBranch: (branch: number) => void,
): void {
  writeByte(writer, 0); // no locals
  for (let branch = 0; branch <= branches; branch++) writeInstructions(writer, [Op.block, emptyBlock]);
  writeInstructions(writer, ...selector);
  writeByte(writer, Op.brTable);
  writeU32(writer, branches);
  for (let branch = 0; branch <= branches; branch++) writeU32(writer, branch);
  writeByte(writer, Op.end);
  for (let branch = 0; branch < branches; branch++) {
    writeBranch(branch);
    writeInstructions(writer, [Op.return], [Op.end]);
  }
  writeInstructions(writer, [Op.unreachable], [Op.end]);
}
