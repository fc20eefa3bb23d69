import { invalidModule } from '../errors.ts';
import { ImmediateKind, oneByteKinds, prefixedKinds, prefixedTableSize } from './opcodes.ts';
import { type ByteReader, readByte, readU32, skipBytes, skipLeb } from './reader.ts';
import { readHeapType } from './types.ts';
import { countType, type ValidationCost } from './validation-cost.ts';
import { type ByteWriter, writeRange, writeU32 } from './writer.ts';

/** Writes what `from` was read to in place of the function index that was read there. */
export interface IndexRewriter {
  readonly reader: ByteReader;
  readonly writer: ByteWriter;
  readonly referenceIndex: (functionIndex: number) => number;
  readonly functionCount: number;
  readonly cost: ValidationCost;
  /** The first byte that has not been copied yet. */
  copied: number;
}

/** Reads a function index and writes the one that takes its place. */
export function rewriteFunctionIndex(rewriter: IndexRewriter): void {
  const { reader, writer } = rewriter;
  const offset = reader.offset;
  const index = readU32(reader, 'a function index');
  if (index >= rewriter.functionCount) throw invalidModule(`Expected the index of a function, found ${index}`, offset);
  const target = rewriter.referenceIndex(index);
  if (target === index) return;
  writeRange(writer, reader.bytes, rewriter.copied, offset);
  writeU32(writer, target);
  rewriter.copied = reader.offset;
}

/** Copies what was read since the last change. */
export function copyRest(rewriter: IndexRewriter): void {
  writeRange(rewriter.writer, rewriter.reader.bytes, rewriter.copied, rewriter.reader.offset);
  rewriter.copied = rewriter.reader.offset;
}

/** Steps over a constant expression, rewriting the functions that it refers to. */
export function rewriteConstExpr(rewriter: IndexRewriter): void {
  const { reader } = rewriter;
  for (;;) {
    const offset = reader.offset;
    const kind = readKind(reader);
    if (kind === ImmediateKind.End) return;
    if (kind === ImmediateKind.RefFunc) rewriteFunctionIndex(rewriter);
    else if (!skipConstImmediates(reader, kind, rewriter.cost)) {
      throw invalidModule(
        `Expected a constant instruction, found opcode 0x${reader.bytes[offset]?.toString(16)}`,
        offset,
      );
    }
  }
}

/** Reads the opcode of a constant instruction. */
export function readKind(reader: ByteReader): number {
  const byte = readByte(reader, 'a constant expression');
  const kind = oneByteKinds[byte] as number;
  if (kind !== ImmediateKind.Prefix) return kind;
  const opcode = readU32(reader, 'an opcode');
  if (opcode >= prefixedTableSize) return ImmediateKind.Unknown;
  return prefixedKinds[(byte - 0xfb) * prefixedTableSize + opcode] as number;
}

/** False for an instruction that cannot be constant because of its form. Which of the others may be is the engine's matter. */
export function skipConstImmediates(reader: ByteReader, kind: number, cost: ValidationCost): boolean {
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
