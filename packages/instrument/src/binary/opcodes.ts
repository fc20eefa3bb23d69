import { ProposalBit } from './proposals.ts';

/**
 * The instruction set: each opcode's kind of immediates, its meaning to the rewriter, and its proposals.
 * https://webassembly.github.io/spec/core/appendix/index-instructions.html
 *
 * A kind is a small number, so that one table lookup and one jump decode an instruction. Kinds from `Block` on matter to
 * the rewriter (nesting, labels, function indices, exceptions). Earlier kinds are only skipped.
 */
export const ImmediateKind = {
  /** No known instruction. Zero, so that it is the default in tables. */
  Unknown: 0,
  None: 1,
  /** One byte: a lane, or the reserved byte of `atomic.fence`. */
  Byte: 2,
  /** One LEB128 of at most 32 bits: an index, an i32. */
  Leb32: 3,
  TwoLeb32: 4,
  Leb64: 5,
  FourBytes: 6,
  EightBytes: 7,
  SixteenBytes: 8,
  /** Alignment, a memory index where the alignment's bit 6 is set, an offset of at most 64 bits. */
  MemArg: 9,
  MemArgAndLane: 10,
  /** A vector of value types. */
  ValueTypes: 11,
  /** The LEB128 that follows selects a row of the prefix's table. */
  Prefix: 12,
  /** A block type; opens a block. */
  Block: 13,
  /** The same; legacy exception handling. */
  Try: 14,
  /** A block type and catch clauses; opens a block; exnref exception handling. */
  TryTable: 15,
  End: 16,
  /** A label; closes a block. */
  Delegate: 17,
  /** One label. */
  Branch: 18,
  BranchTable: 19,
  /** Flags, a label, two heap types. */
  BranchOnCast: 20,
  Return: 21,
  /** A function index. */
  Call: 22,
  ReturnCall: 23,
  RefFunc: 24,
  /** A type index: `call_ref`. */
  CallRef: 25,
  /** A type and a table index. */
  CallIndirect: 26,
  ReturnCallRef: 27,
  ReturnCallIndirect: 28,
  /** A memory index. */
  MemoryGrow: 29,
  /** A tag index. */
  Throw: 30,
  ThrowRef: 31,
  /** A label; legacy exception handling. */
  Rethrow: 32,
  /** A heap type. */
  HeapType: 33,
  /** A tag index; legacy exception handling. */
  Catch: 34,
  /** The type index of a structure. */
  StructNew: 35,
  /** A type index and a number of elements. */
  ArrayNewFixed: 36,
} as const;

/** Opcodes that the rewriter writes or compares with. */
export const Op = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  try: 0x06,
  rethrow: 0x09,
  throwRef: 0x0a,
  end: 0x0b,
  br: 0x0c,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  returnCall: 0x12,
  catchAll: 0x19,
  tryTable: 0x1f,
  select: 0x1b,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  i32Eqz: 0x45,
  i32WrapI64: 0xa7,
  i64ExtendI32U: 0xad,
  i64ReinterpretF64: 0xbd,
  refNull: 0xd0,
  refFunc: 0xd2,
} as const;

/** The block type without parameters and results. */
export const emptyBlock = 0x40;

/** Instructions of each integer type that the rewriter writes or compares with. */
export const i32Op = {
  load: 0x28,
  loadAlignment: 2,
  const: 0x41,
  eq: 0x46,
  ne: 0x47,
  gtU: 0x4b,
  add: 0x6a,
  sub: 0x6b,
  mul: 0x6c,
  and: 0x71,
  xor: 0x73,
  shrU: 0x76,
} as const;
export const f64Op = {
  const: 0x44,
  ge: 0x66,
  add: 0xa0,
  sub: 0xa1,
} as const;
export const i64Op = {
  load: 0x29,
  loadAlignment: 3,
  const: 0x42,
  eqz: 0x50,
  eq: 0x51,
  ne: 0x52,
  ltS: 0x53,
  ltU: 0x54,
  gtU: 0x56,
  add: 0x7c,
  sub: 0x7d,
  mul: 0x7e,
  shrU: 0x88,
} as const;

const {
  signExtension,
  saturatingFloatToInt,
  bulkMemory,
  referenceTypes,
  simd,
  relaxedSimd,
  tailCall,
  threads,
  exceptions,
  legacyExceptions,
  someExceptions,
  functionReferences,
  gc,
  wideArithmetic,
} = ProposalBit;

/** [first opcode, last opcode, immediate kind, bits of the proposals beyond MVP] */
type Row = readonly [number, number, number, number?];

const oneByteRows: readonly Row[] = [
  [0x00, 0x01, ImmediateKind.None], // unreachable, nop
  [0x02, 0x04, ImmediateKind.Block], // block, loop, if
  [0x05, 0x05, ImmediateKind.None], // else
  [0x06, 0x06, ImmediateKind.Try, legacyExceptions],
  [0x07, 0x07, ImmediateKind.Catch, legacyExceptions],
  [0x08, 0x08, ImmediateKind.Throw, someExceptions],
  [0x09, 0x09, ImmediateKind.Rethrow, legacyExceptions],
  [0x0a, 0x0a, ImmediateKind.ThrowRef, exceptions],
  [0x0b, 0x0b, ImmediateKind.End],
  [0x0c, 0x0d, ImmediateKind.Branch], // br, br_if
  [0x0e, 0x0e, ImmediateKind.BranchTable],
  [0x0f, 0x0f, ImmediateKind.Return],
  [0x10, 0x10, ImmediateKind.Call],
  [0x11, 0x11, ImmediateKind.CallIndirect],
  [0x12, 0x12, ImmediateKind.ReturnCall, tailCall],
  [0x13, 0x13, ImmediateKind.ReturnCallIndirect, tailCall],
  [0x14, 0x14, ImmediateKind.CallRef, functionReferences],
  [0x15, 0x15, ImmediateKind.ReturnCallRef, functionReferences | tailCall],
  [0x18, 0x18, ImmediateKind.Delegate, legacyExceptions],
  [0x19, 0x19, ImmediateKind.None, legacyExceptions], // catch_all
  [0x1a, 0x1b, ImmediateKind.None], // drop, select
  [0x1c, 0x1c, ImmediateKind.ValueTypes, referenceTypes], // select with types
  [0x1f, 0x1f, ImmediateKind.TryTable, exceptions],
  [0x20, 0x24, ImmediateKind.Leb32], // local.*, global.*
  [0x25, 0x26, ImmediateKind.Leb32, referenceTypes], // table.get, table.set
  [0x28, 0x3e, ImmediateKind.MemArg], // loads and stores
  [0x3f, 0x3f, ImmediateKind.Leb32], // memory.size
  [0x40, 0x40, ImmediateKind.MemoryGrow],
  [0x41, 0x41, ImmediateKind.Leb32], // i32.const
  [0x42, 0x42, ImmediateKind.Leb64], // i64.const
  [0x43, 0x43, ImmediateKind.FourBytes], // f32.const
  [0x44, 0x44, ImmediateKind.EightBytes], // f64.const
  [0x45, 0xbf, ImmediateKind.None], // numeric
  [0xc0, 0xc4, ImmediateKind.None, signExtension],
  [0xd0, 0xd0, ImmediateKind.HeapType, referenceTypes], // ref.null
  [0xd1, 0xd1, ImmediateKind.None, referenceTypes], // ref.is_null
  [0xd2, 0xd2, ImmediateKind.RefFunc, referenceTypes],
  [0xd3, 0xd3, ImmediateKind.None, gc], // ref.eq
  [0xd4, 0xd4, ImmediateKind.None, functionReferences], // ref.as_non_null
  [0xd5, 0xd6, ImmediateKind.Branch, functionReferences], // br_on_null, br_on_non_null
  [0xfb, 0xfe, ImmediateKind.Prefix],
];

const gcRows: readonly Row[] = [
  [0x00, 0x01, ImmediateKind.StructNew, gc], // struct.new, struct.new_default
  [0x02, 0x05, ImmediateKind.TwoLeb32, gc], // struct.get*, struct.set
  [0x06, 0x07, ImmediateKind.Leb32, gc], // array.new, array.new_default
  [0x08, 0x08, ImmediateKind.ArrayNewFixed, gc],
  [0x09, 0x0a, ImmediateKind.TwoLeb32, gc], // array.new_data, array.new_elem
  [0x0b, 0x0e, ImmediateKind.Leb32, gc], // array.get*, array.set
  [0x0f, 0x0f, ImmediateKind.None, gc], // array.len
  [0x10, 0x10, ImmediateKind.Leb32, gc], // array.fill
  [0x11, 0x13, ImmediateKind.TwoLeb32, gc], // array.copy, array.init_data, array.init_elem
  [0x14, 0x17, ImmediateKind.HeapType, gc], // ref.test, ref.cast
  [0x18, 0x19, ImmediateKind.BranchOnCast, gc],
  [0x1a, 0x1e, ImmediateKind.None, gc], // conversions, ref.i31, i31.get_*
];

const numericRows: readonly Row[] = [
  [0x00, 0x07, ImmediateKind.None, saturatingFloatToInt], // saturating truncations
  [0x08, 0x08, ImmediateKind.TwoLeb32, bulkMemory], // memory.init
  [0x09, 0x09, ImmediateKind.Leb32, bulkMemory], // data.drop
  [0x0a, 0x0a, ImmediateKind.TwoLeb32, bulkMemory], // memory.copy
  [0x0b, 0x0b, ImmediateKind.Leb32, bulkMemory], // memory.fill
  [0x0c, 0x0c, ImmediateKind.TwoLeb32, bulkMemory], // table.init
  [0x0d, 0x0d, ImmediateKind.Leb32, bulkMemory], // elem.drop
  [0x0e, 0x0e, ImmediateKind.TwoLeb32, bulkMemory], // table.copy
  [0x0f, 0x11, ImmediateKind.Leb32, referenceTypes], // table.grow, table.size, table.fill
  [0x13, 0x16, ImmediateKind.None, wideArithmetic], // wide arithmetic
];

const simdRows: readonly Row[] = [
  [0x00, 0x0b, ImmediateKind.MemArg, simd],
  [0x0c, 0x0d, ImmediateKind.SixteenBytes, simd], // v128.const, i8x16.shuffle
  [0x0e, 0x14, ImmediateKind.None, simd],
  [0x15, 0x22, ImmediateKind.Byte, simd], // extract_lane, replace_lane
  [0x23, 0x53, ImmediateKind.None, simd],
  [0x54, 0x5b, ImmediateKind.MemArgAndLane, simd],
  [0x5c, 0x5d, ImmediateKind.MemArg, simd],
  [0x5e, 0xff, ImmediateKind.None, simd],
  [0x100, 0x113, ImmediateKind.None, relaxedSimd], // relaxed SIMD
  // Unassigned opcodes.
  ...[0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4].map(
    (opcode): Row => [opcode, opcode, ImmediateKind.Unknown],
  ),
  [0xe2, 0xe2, ImmediateKind.Unknown],
  [0xee, 0xee, ImmediateKind.Unknown],
];

const atomicRows: readonly Row[] = [
  [0x00, 0x02, ImmediateKind.MemArg, threads], // notify, wait
  [0x03, 0x03, ImmediateKind.Byte, threads], // atomic.fence
  [0x10, 0x4e, ImmediateKind.MemArg, threads],
];

/** Opcodes per prefix; higher ones are unknown. */
export const prefixedTableSize = 0x120;

const kindOf = ([, , kind]: Row): number => kind;
const proposalsOf = ([, , , proposals = 0]: Row): number => proposals;
const prefixedRows = [gcRows, numericRows, simdRows, atomicRows];

/** Immediate kinds of the instructions of one byte, by opcode. */
export const oneByteKinds: Uint8Array = fillTable(new Uint8Array(0x100), [oneByteRows], kindOf);

/** Immediate kinds of the prefixed instructions: `prefixedKinds[(prefix - 0xfb) * prefixedTableSize + opcode]`. */
export const prefixedKinds: Uint8Array = fillTable(new Uint8Array(4 * prefixedTableSize), prefixedRows, kindOf);

/** Bits of the proposals that instructions of one byte belong to, by opcode. */
export const oneByteProposals: Int32Array = fillTable(new Int32Array(0x100), [oneByteRows], proposalsOf);

/** The same for the prefixed instructions, laid out as {@link prefixedKinds}. */
export const prefixedProposals: Int32Array = fillTable(
  new Int32Array(4 * prefixedTableSize),
  prefixedRows,
  proposalsOf,
);

/** Fills a table by opcode with what `read` returns for a row. Each prefix has `prefixedTableSize` entries. */
function fillTable<Table extends Uint8Array | Int32Array>(
  table: Table,
  groups: readonly (readonly Row[])[],
  read: (row: Row) => number,
): Table {
  groups.forEach((rows, group) => {
    const start = group * prefixedTableSize;
    for (const row of rows) table.fill(read(row), start + row[0], start + row[1] + 1);
  });
  return table;
}
