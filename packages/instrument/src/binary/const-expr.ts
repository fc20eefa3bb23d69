import { invalidModule } from '../errors.ts';
import { ImmediateKind, i32Op, i64Op, oneByteKinds, prefixedKinds, prefixedTableSize } from './opcodes.ts';
import { type ByteReader, readByte, readU32, skipBytes, skipLeb } from './reader.ts';
import type { SectionVisitor } from './section-visitor.ts';
import { readHeapType } from './types.ts';
import { countType, type ValidationCost } from './validation-cost.ts';

/** https://webassembly.github.io/spec/core/binary/instructions.html#expressions */
export function readConstExpr(reader: ByteReader, visitor: SectionVisitor): void {
  for (;;) {
    const { offset } = reader;
    const kind = readKind(reader);
    if (kind === ImmediateKind.End) return;
    visitor.onConstInstruction?.(offset, reader.end);
    if (kind === ImmediateKind.RefFunc) readFunctionIndex(reader, visitor);
    else if (!skipImmediates(reader, kind, visitor.cost)) {
      const found = `0x${reader.bytes[offset]?.toString(16)}`;
      throw invalidModule(`Expected a constant instruction, found opcode ${found}`, offset);
    }
  }
}

export function readFunctionIndex(reader: ByteReader, visitor: SectionVisitor): void {
  const { offset } = reader;
  const index = readU32(reader, 'a function index');
  visitor.onFunctionIndex?.(index, offset, reader.offset);
}

/** Reads the opcode of a constant instruction. */
function readKind(reader: ByteReader): number {
  const byte = readByte(reader, 'a constant expression');
  const kind = oneByteKinds[byte] as number;
  if (kind !== ImmediateKind.Prefix) return kind;
  const opcode = readU32(reader, 'an opcode');
  if (opcode >= prefixedTableSize) return ImmediateKind.Unknown;
  return prefixedKinds[(byte - 0xfb) * prefixedTableSize + opcode] as number;
}

/** Returns false for an instruction that can't be constant because of its immediates. Engines check the rest. */
function skipImmediates(reader: ByteReader, kind: number, cost: ValidationCost): boolean {
  const what = 'the immediate of a constant instruction';
  if (kind === ImmediateKind.None) return true;
  if (kind === ImmediateKind.Leb32) skipLeb(reader, 5, what);
  else if (kind === ImmediateKind.HeapType) readHeapType(reader);
  else if (kind === ImmediateKind.Leb64) skipLeb(reader, 10, what);
  else if (kind === ImmediateKind.FourBytes) skipBytes(reader, 4, what);
  else if (kind === ImmediateKind.EightBytes) skipBytes(reader, 8, what);
  else if (kind === ImmediateKind.SixteenBytes) skipBytes(reader, 16, what);
  else if (kind === ImmediateKind.StructNew) {
    const { offset } = reader;
    countType(cost, readU32(reader, 'a type index'), offset);
  } else if (kind === ImmediateKind.TwoLeb32 || kind === ImmediateKind.ArrayNewFixed) {
    skipLeb(reader, 5, what);
    skipLeb(reader, 5, what);
  } else return false;
  return true;
}

/** The arithmetic that the extended-const proposal allows in constant expressions: add, sub, and mul of i32 and i64. */
export function isExtendedConst(opcode: number): boolean {
  return [i32Op, i64Op].some(({ add, mul }) => opcode >= add && opcode <= mul);
}
