import { invalidModule } from '../errors.ts';
import { Form, oneByteForms, prefixedForms, prefixedTableSize } from './opcodes.ts';
import { type ByteReader, readByte, readU32, skipBytes, skipLeb } from './reader.ts';
import { readHeapType } from './types.ts';
import { countType, type ValidationCost } from './validation-cost.ts';
import { type ByteWriter, writeRange, writeU32 } from './writer.ts';

/** Writes what `from` was read to in place of the function index that was read there. */
export interface IndexRewriter {
  readonly reader: ByteReader;
  readonly writer: ByteWriter;
  readonly referenceOf: (functionIndex: number) => number;
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
  const target = rewriter.referenceOf(index);
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
    const form = readForm(reader);
    if (form === Form.End) return;
    if (form === Form.RefFunc) rewriteFunctionIndex(rewriter);
    else if (!skipConstImmediates(reader, form, rewriter.cost)) {
      throw invalidModule(
        `Expected a constant instruction, found opcode 0x${reader.bytes[offset]?.toString(16)}`,
        offset,
      );
    }
  }
}

/** Reads the opcode of a constant instruction. */
export function readForm(reader: ByteReader): number {
  const byte = readByte(reader, 'a constant expression');
  const form = oneByteForms[byte] as number;
  if (form !== Form.Prefix) return form;
  const opcode = readU32(reader, 'an opcode');
  if (opcode >= prefixedTableSize) return Form.Unknown;
  return prefixedForms[(byte - 0xfb) * prefixedTableSize + opcode] as number;
}

/** False for an instruction that cannot be constant because of its form. Which of the others may be is the engine's matter. */
export function skipConstImmediates(reader: ByteReader, form: number, cost: ValidationCost): boolean {
  const what = 'the immediate of a constant instruction';
  if (form === Form.None) return true;
  if (form === Form.Leb32) skipLeb(reader, 5, what);
  else if (form === Form.HeapType) readHeapType(reader);
  else if (form === Form.Leb64) skipLeb(reader, 10, what);
  else if (form === Form.FourBytes) skipBytes(reader, 4, what);
  else if (form === Form.EightBytes) skipBytes(reader, 8, what);
  else if (form === Form.SixteenBytes) skipBytes(reader, 16, what);
  else if (form === Form.StructNew) {
    const { offset } = reader;
    countType(cost, readU32(reader, 'a type index'), offset);
  } else if (form === Form.TwoLeb32 || form === Form.ArrayNewFixed) {
    skipLeb(reader, 5, what);
    skipLeb(reader, 5, what);
  } else return false;
  return true;
}
