import { i32Op, i64Op } from '../binary/opcodes.ts';
import { type ByteWriter, putS32, putU32, reserve, writeByte, writeU32 } from '../binary/writer.ts';

/** A function that the rewriter adds. */
export interface GeneratedFunction {
  readonly typeIndex: number;
  readonly name: string;
  readonly writeBody: (writer: ByteWriter) => void;
}

/** Writes a body's locals of these types, each with its own index. */
export function writeLocals(writer: ByteWriter, types: readonly number[]): void {
  writeU32(writer, types.length);
  for (const type of types) {
    writeByte(writer, 1);
    writeByte(writer, type);
  }
}

/** Writes instructions with at most two immediates, which are signed for constants. */
export function writeInstructions(writer: ByteWriter, ...instructions: readonly (readonly number[])[]): void {
  for (const [opcode, ...immediates] of instructions) {
    if (opcode === undefined) continue;
    reserve(writer, 11);
    writer.bytes[writer.length++] = opcode;
    const put = opcode === i32Op.const || opcode === i64Op.const ? putS32 : putU32;
    for (const immediate of immediates) writer.length = put(writer.bytes, writer.length, immediate);
  }
}
