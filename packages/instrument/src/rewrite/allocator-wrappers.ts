import { type Module, memoryAddressType } from '../binary/module.ts';
import { emptyBlock, i32Op, i64Op, Op } from '../binary/opcodes.ts';
import { type FunctionType, i32Type, i64Type } from '../binary/types.ts';
import { type ByteWriter, createWriter, reserve } from '../binary/writer.ts';
import type { Allocator } from '../select/allocators.ts';
import {
  type ExitGuard,
  guardEpilogueLength,
  guardPrologueLength,
  putGuardEpilogue,
  putGuardPrologue,
} from './exit-guard.ts';
import type { GeneratedFunction } from './instructions.ts';
import { writeInstructions, writeLocals } from './instructions.ts';
import { definitionIndex, type Layout } from './layout.ts';
import type { TypePool } from './type-pool.ts';

/**
 * Calls an allocator between `allocator-enter`, with its index, the pointer that it frees or reallocates, and the size that
 * it allocates, and `allocator-exit`, with the pointer that it returns. Absent values are 0, and so is the pointer of a call
 * that an exception ends.
 *
 *     (func $malloc-wrapper (param i32) (result i32) (local i32)
 *       i32.const MALLOC  i32.const 0  local.get 0  call $allocator-enter
 *       local.get 0  call $malloc  local.tee 1
 *       local.get 1  call $allocator-exit)
 */
export function wrapAllocator(
  module: Module,
  layout: Layout,
  types: TypePool,
  allocator: Allocator,
): GeneratedFunction {
  const { functionIndex, name, signature } = allocator;
  const typeIndex = module.functionTypes[functionIndex] as number;
  const { parameterCount } = module.types[typeIndex] as FunctionType;
  const address = memoryAddressType(module);
  const op = address === i64Type ? i64Op : i32Op;
  const guard: ExitGuard = layout.exceptionHandling === 'none' ? 'bare' : layout.exceptionHandling;
  const blockType = guard === 'bare' ? new Uint8Array() : types.blockTypeOf(typeIndex);
  const definition = definitionIndex(layout, functionIndex);
  const result = parameterCount;
  const isOut = signature.out !== undefined;
  const pointer = isOut ? result + 1 : result;
  const returnsPointer = signature.size !== undefined;
  const argument = (parameter: number | undefined) =>
    parameter === undefined ? [op.const, 0] : [Op.localGet, parameter];

  const writeBody = (writer: ByteWriter) => {
    writeLocals(writer, returnsPointer ? (isOut ? [i32Type, address] : [address]) : []);
    writeInstructions(writer, [i32Op.const, definition], argument(signature.pointer), argument(signature.size));
    if (signature.count !== undefined) writeInstructions(writer, [Op.localGet, signature.count], [op.mul]);
    writeInstructions(writer, [Op.call, layout.allocatorEnterIndex]);
    reserve(writer, guardPrologueLength(guard, blockType));
    writer.length = putGuardPrologue(writer.bytes, writer.length, guard, blockType);
    for (let parameter = 0; parameter < parameterCount; parameter++)
      writeInstructions(writer, [Op.localGet, parameter]);
    writeInstructions(writer, [Op.call, definition]);
    if (returnsPointer) writeInstructions(writer, [Op.localTee, result]);
    if (signature.out !== undefined) {
      writeInstructions(writer, [Op.i32Eqz], [Op.if, emptyBlock], [Op.localGet, signature.out]);
      writeInstructions(
        writer,
        [op.load, op.loadAlignment, 0],
        [Op.localSet, pointer],
        [Op.end],
        [Op.localGet, result],
      );
    }
    const exit = createWriter(16);
    writeInstructions(exit, returnsPointer ? [Op.localGet, pointer] : [op.const, 0]);
    writeInstructions(exit, [Op.call, layout.allocatorExitIndex]);
    reserve(writer, guardEpilogueLength(guard, exit.length));
    writer.length = putGuardEpilogue(writer.bytes, writer.length, guard, (at) => {
      writer.bytes.set(exit.bytes.subarray(0, exit.length), at);
      return at + exit.length;
    });
  };
  return { typeIndex, name: `tenon.allocator(${name})`, writeBody };
}
