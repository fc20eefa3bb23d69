import { ProposalBit } from './proposals.ts';
import type { ByteReader } from './reader.ts';
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

/** The proposals behind value types, which are read. */
export function valueTypesBits(reader: ByteReader, count: number): number {
  let bits = 0;
  for (let index = 0; index < count; index++) {
    const byte = reader.bytes[reader.offset] as number;
    if (byte >= 0x7c && byte <= 0x7f) reader.offset++;
    else bits |= valueTypeBits(readValueType(reader));
  }
  return bits;
}

/** The proposals behind the heap type of one byte, or of the index, that begins with a byte. */
export function heapTypeBits(byte: number): number {
  if (byte === 0x70 || byte === 0x6f) return 0; // func, extern
  if (byte === 0x69 || byte === 0x74) return ProposalBit.exceptions; // exn, noexn
  return (byte & 0xc0) === 0x40 ? ProposalBit.gc : ProposalBit.functionReferences;
}
