import type { Memory, Module } from '../binary/module.ts';
import { emptyBlock, i32Op, i64Op, Op } from '../binary/opcodes.ts';
import { type FunctionType, i32Type, i64Type } from '../binary/types.ts';
import { type ByteWriter, putU32, reserve, writeByte, writeSized } from '../binary/writer.ts';
import { limitExceeded, tooComplex } from '../errors.ts';
import { maxGlobals, maxWrapperBytes } from '../limits.ts';
import { adaptiveGlobals } from './adaptive.ts';
import { exitHelper } from './adaptive-exit.ts';
import { wrapAllocator } from './allocator-wrappers.ts';
import { type ExitGuard, guardPrologueLength, putGuardEpilogue, putGuardPrologue, putHookCall } from './exit-guard.ts';
import { type GeneratedFunction, writeInstructions, writeLocals } from './instructions.ts';
import type { Layout } from './layout.ts';
import { probeFunctions } from './probe-functions.ts';
import type { TypePool } from './type-pool.ts';

/** Instructions of each address type that the helpers use. */
const arithmetic = {
  i32: { ...i32Op, type: i32Type, toI32: [] },
  i64: { ...i64Op, type: i64Type, toI32: [Op.i32WrapI64] },
} as const;

/** The functions that follow the module's own, in the order of the layout. */
export function generateFunctions(
  module: Module,
  layout: Layout,
  types: TypePool,
  grownMemories: readonly number[],
): GeneratedFunction[] {
  checkGenerated(module, layout);
  const looksFirst = watchesUnknownSize(module, layout);
  const wrappers = layout.wrapped.map((index) => wrapImport(module, layout, types, index, looksFirst));
  const hostGrowth = layout.hostGrowthIndex === -1 ? [] : [reportHostGrowth(module, layout, types)];
  const places = new Map(layout.watchedMemories.map((index, place) => [index, place]));
  const growHelpers = grownMemories.map((index) => growMemory(module, layout, types, index, places.get(index)));
  const allocators = layout.allocators.map((allocator) => wrapAllocator(module, layout, types, allocator));
  const exits = layout.adaptive === undefined ? [] : [exitHelper(layout, layout.adaptive, types)];
  return [...wrappers, ...hostGrowth, ...growHelpers, ...allocators, ...exits, ...probeFunctions(layout, types)];
}

/**
 * Checks limits before anything is written. A wrapper passes on each parameter, so a few bytes of input (imports that share
 * a type of a thousand parameters) could become a thousand times as many of output.
 */
function checkGenerated(module: Module, layout: Layout): void {
  const end = module.bytes.length;
  let wrapperBytes = 0;
  for (const index of [...layout.wrapped, ...layout.allocators.map(({ functionIndex }) => functionIndex)]) {
    const type = module.types[module.functionTypes[index] as number] as FunctionType;
    wrapperBytes += wrapperFixedBytes + 3 * type.parameterCount;
  }
  if (wrapperBytes > maxWrapperBytes) {
    throw tooComplex('bytes of wrappers around functions', wrapperBytes, maxWrapperBytes, end);
  }
  const globals = module.globalCount + addedGlobals(module, layout).length;
  if (globals > maxGlobals) throw limitExceeded('globals', globals, maxGlobals, end);
}

/** The size of most wrappers without parameters. */
const wrapperFixedBytes = 24;

/** Calls an imported function between `enter` and `exit`, with the import's own index. */
function wrapImport(
  module: Module,
  layout: Layout,
  types: TypePool,
  index: number,
  looksFirst: boolean,
): GeneratedFunction {
  const entry = module.importedFunctions[index] as { module: string; name: string };
  const typeIndex = module.functionTypes[index] as number;
  const type = module.types[typeIndex] as FunctionType;
  const isTraced = layout.traced[index] === 1;
  const guard: ExitGuard = isTraced && layout.exceptionHandling !== 'none' ? layout.exceptionHandling : 'bare';
  const blockType = guard === 'bare' ? new Uint8Array() : types.blockTypeOf(typeIndex);
  const checksGrowth = layout.hostGrowthIndex !== -1;

  const putGrowthCheck = (out: Uint8Array, at: number) => {
    if (!checksGrowth) return at;
    out[at] = Op.call;
    return putU32(out, at + 1, layout.hostGrowthIndex);
  };
  const writeBody = (writer: ByteWriter) => {
    reserve(writer, 96 + blockType.length + 6 * type.parameterCount + guardPrologueLength(guard, blockType));
    const out = writer.bytes;
    let at = writer.length;
    out[at++] = 0; // no locals
    if (looksFirst) at = putGrowthCheck(out, at);
    if (isTraced) at = putHookCall(out, at, index, layout.enterIndex);
    at = putGuardPrologue(out, at, guard, blockType);
    for (let parameter = 0; parameter < type.parameterCount; parameter++) {
      out[at++] = Op.localGet;
      at = putU32(out, at, parameter);
    }
    out[at++] = Op.call;
    at = putU32(out, at, index);
    writer.length = putGuardEpilogue(out, at, guard, (to) => {
      const after = putGrowthCheck(out, to);
      return isTraced ? putHookCall(out, after, index, layout.exitIndex) : after;
    });
  };
  return { typeIndex, name: `tenon.call(${entry.module}.${entry.name})`, writeBody };
}

/** A mutable global that the rewriter adds. */
export interface AddedGlobal {
  readonly valueType: number;
  readonly initialValue: number;
}

/**
 * The globals that follow the module's own: the last reported size of each watched memory, in pages, or -1 if the size is
 * only known at run time; the globals of adaptive tracing; the fuel; and the counters of blocks.
 */
export function addedGlobals(module: Module, layout: Layout): AddedGlobal[] {
  const lastSizes = layout.watchedMemories.map((index): AddedGlobal => {
    const memory = module.memories[index] as Memory;
    return { valueType: arithmeticOf(memory).type, initialValue: hasUnknownSize(memory) ? -1 : memory.minimum };
  });
  const { fuel, counterCount = 0 } = layout.probed ?? {};
  const fuels = fuel === undefined ? [] : [{ valueType: i64Type, initialValue: fuel }];
  const counter = { valueType: i64Type, initialValue: 0 };
  return [
    ...lastSizes,
    ...adaptiveGlobals(layout.adaptive),
    ...fuels,
    ...new Array<AddedGlobal>(counterCount).fill(counter),
  ];
}

/** An imported memory may be larger than declared at the start. */
function hasUnknownSize(memory: Memory): boolean {
  return memory.isImported || memory.minimum > 0x7fff_ffff;
}

function watchesUnknownSize(module: Module, layout: Layout): boolean {
  return layout.watchedMemories.some((index) => hasUnknownSize(module.memories[index] as Memory));
}

function arithmeticOf(memory: Memory) {
  return memory.is64 ? arithmetic.i64 : arithmetic.i32;
}

/**
 * Reports the memory growth of each watched memory since the last report, in pages. The size is in a global, not in a
 * local of the wrapper: the host may call back into the module, which calls another import before the first one returns.
 * Growth is still reported once.
 */
function reportHostGrowth(module: Module, layout: Layout, types: TypePool): GeneratedFunction {
  const writeBody = (writer: ByteWriter) => {
    writeLocals(writer, [i32Type, i64Type, i32Type]);
    layout.watchedMemories.forEach((memoryIndex, place) => {
      const memory = module.memories[memoryIndex] as Memory;
      const { const: constant, eq, gtU } = arithmeticOf(memory);
      const size = memory.is64 ? 1 : 0;
      const global = module.globalCount + place;
      if (hasUnknownSize(memory)) {
        writeInstructions(writer, [Op.globalGet, global], [constant, -1], [eq], [Op.if, emptyBlock]);
        writeInstructions(writer, [Op.memorySize, memoryIndex], [Op.globalSet, global], [Op.end]);
      }
      writeInstructions(writer, [Op.memorySize, memoryIndex], [Op.localTee, size], [Op.globalGet, global], [gtU]);
      writeInstructions(writer, [Op.if, emptyBlock]);
      writePagesBetween(writer, memory, [Op.globalGet, global], [Op.localGet, size]);
      writeInstructions(writer, [Op.localGet, size], [Op.globalSet, global]);
      writeReport(writer, layout, 2);
      writeInstructions(writer, [Op.end]);
    });
    writeByte(writer, Op.end);
  };
  return { typeIndex: types.intern([], []), name: 'tenon.host-growth', writeBody };
}

/** Replaces `memory.grow`: returns the same result, and reports a success. */
function growMemory(
  module: Module,
  layout: Layout,
  types: TypePool,
  memoryIndex: number,
  place: number | undefined,
): GeneratedFunction {
  const memory = module.memories[memoryIndex] as Memory;
  const { type, const: constant, ne, toI32 } = arithmeticOf(memory);
  const writeBody = (writer: ByteWriter) => {
    writeLocals(writer, [type, i32Type]);
    if (place !== undefined) writeInstructions(writer, [Op.call, layout.hostGrowthIndex]);
    writeInstructions(writer, [Op.localGet, 0], [Op.memoryGrow, memoryIndex], [Op.localTee, 1]);
    writeInstructions(writer, [constant, -1], [ne], [Op.if, emptyBlock]);
    if (place !== undefined) {
      writeInstructions(writer, [Op.memorySize, memoryIndex], [Op.globalSet, module.globalCount + place]);
    }
    if (memory.pageSizeLog2 === 16) {
      writeInstructions(writer, [Op.localGet, 0], toI32);
    } else {
      writePagesBetween(writer, memory, [Op.localGet, 1], [Op.memorySize, memoryIndex]);
    }
    writeReport(writer, layout, 2);
    writeInstructions(writer, [Op.end], [Op.localGet, 1], [Op.end]);
  };
  return { typeIndex: types.intern([type], [type]), name: `tenon.memory-grow(${memoryIndex})`, writeBody };
}

/** Pushes the difference between two memory sizes in whole pages of 64 KiB, as an i32. */
function writePagesBetween(
  writer: ByteWriter,
  memory: Memory,
  before: readonly [number, number],
  after: readonly [number, number],
): void {
  const { const: constant, shrU, sub, toI32 } = arithmeticOf(memory);
  const toPages = memory.pageSizeLog2 === 16 ? [] : [[constant, 16 - memory.pageSizeLog2] as const, [shrU] as const];
  writeInstructions(writer, after, ...toPages, before, ...toPages, [sub], toI32);
}

/** Pops a number of pages, and passes it to the hook unless it is zero. */
function writeReport(writer: ByteWriter, layout: Layout, pagesLocal: number): void {
  writeInstructions(writer, [Op.localTee, pagesLocal], [Op.if, emptyBlock]);
  writeInstructions(writer, [Op.localGet, pagesLocal], [Op.call, layout.memoryGrowIndex], [Op.end]);
}

/** Writes the bodies with their sizes. */
export function writeGeneratedBodies(writer: ByteWriter, functions: readonly GeneratedFunction[]): void {
  for (const { writeBody } of functions) writeSized(writer, 64, () => writeBody(writer));
}
