import { ImmediateKind, Op, oneByteKinds, oneByteProposals, prefixedProposals, prefixedTableSize } from './opcodes.ts';
import { ProposalBit } from './proposals.ts';
import { type ByteReader, readerOver } from './reader.ts';
import { peekU32 } from './skip.ts';
import { readValueType } from './types.ts';

const abstractTypes: Readonly<Record<string, number>> = {
  i32: 0,
  i64: 0,
  f32: 0,
  f64: 0,
  v128: ProposalBit.simd,
  funcref: ProposalBit.referenceTypes,
  externref: ProposalBit.referenceTypes,
  exnref: ProposalBit.exceptions,
  nullexnref: ProposalBit.exceptions,
};

const heapTypes: Readonly<Record<string, number>> = {
  exn: ProposalBit.exceptions,
  noexn: ProposalBit.exceptions,
  func: 0,
  extern: 0,
};

/** The proposals behind a value type, as the text format writes it. */
export function valueTypeBits(type: string): number {
  if (!type.startsWith('(')) return abstractTypes[type] ?? ProposalBit.gc;
  const heapType = type.slice(type.lastIndexOf(' ') + 1, -1);
  const isIndex = /^\d/.test(heapType);
  return ProposalBit.functionReferences | (isIndex ? 0 : (heapTypes[heapType] ?? ProposalBit.gc));
}

/** Reads value types, and returns the proposals behind them. */
export function valueTypesBits(reader: ByteReader, count: number): number {
  let bits = 0;
  for (let index = 0; index < count; index++) {
    const byte = reader.bytes[reader.offset] as number;
    if (byte >= 0x7c && byte <= 0x7f) reader.offset++;
    else bits |= valueTypeBits(readValueType(reader));
  }
  return bits;
}

/** The proposals behind the heap type or type index that begins with a byte. */
function heapTypeBits(byte: number): number {
  if (byte === 0x70 || byte === 0x6f) return 0; // func, extern
  if (byte === 0x69 || byte === 0x74) return ProposalBit.exceptions; // exn, noexn
  return (byte & 0xc0) === 0x40 ? ProposalBit.gc : ProposalBit.functionReferences;
}

/** The proposals behind the block type at an offset: nothing, one value, or a type index, which is part of multi-value. */
function blockTypeBits(source: Uint8Array, start: number, end: number): number {
  const byte = source[start] as number;
  if (byte === 0x40) return 0;
  const isValueType = (byte & 0xc0) === 0x40;
  return isValueType ? valueTypesBits(readerOver(source, start, end), 1) : ProposalBit.multiValue;
}

/** The proposals behind the instruction at an offset, including a heap type or block type in it. */
export function instructionBits(source: Uint8Array, opAt: number, end: number, functionIndex: number): number {
  const byte = source[opAt] as number;
  const kind = oneByteKinds[byte] as number;
  if (byte === Op.refNull) return ProposalBit.referenceTypes | heapTypeBits(source[opAt + 1] as number);
  if (kind === ImmediateKind.Prefix) {
    const opcode = peekU32(source, opAt + 1, end, functionIndex);
    return opcode < prefixedTableSize ? (prefixedProposals[(byte - 0xfb) * prefixedTableSize + opcode] as number) : 0;
  }
  const hasBlockType = kind === ImmediateKind.Block || kind === ImmediateKind.Try || kind === ImmediateKind.TryTable;
  return (oneByteProposals[byte] as number) | (hasBlockType ? blockTypeBits(source, opAt + 1, end) : 0);
}
