import { ImmediateKind, oneByteKinds } from '../binary/opcodes.ts';

/** The bits of a descriptor that the scan looks at by name. */
export const descriptorBits = {
  branchBit: 1 << 31,
  slowPathBit: 1 << 24,
  /** The bits of an instruction that must be clear, of which its descriptor has those that matter to it. */
  lebBits: (1 << 23) | (1 << 15) | (1 << 14) | (1 << 13),
} as const;

const { branchBit, slowPathBit } = descriptorBits;

const sameDepth = 1 << 4;
const deeper = 2 << 4;
const oneLeb = 1 << 15;
const shortBlockType = (1 << 15) | (1 << 13);
const memArg = (1 << 23) | (1 << 15) | (1 << 14);

/**
 * What the scan has to know of an instruction, in one number by its first byte, laid out so that it can be compared with the
 * instruction's first four bytes as they are read at once, the opcode in the lowest:
 *
 *     bit 31      a branch: its label is in byte 1
 *     bit 24      not for the fast path: a call, a return, a prefix, …
 *     bit 23      byte 2 belongs to a LEB128: the descriptor holds only if its highest bit is clear
 *     bit 15      the same for byte 1
 *     bit 14      the same for that bit of byte 1, which in a memory argument announces a memory index
 *     bit 13      the same for that bit of byte 1, without which a block type is one byte: empty, or a low type index
 *     bit 5, 4    1 more than what the instruction adds to the nesting
 *     bit 3 … 0   bytes that the instruction takes if every LEB128 in it takes one
 *
 * So `word & descriptor & lebBits` is zero exactly where that length is right.
 */
export const opcodeDescriptors: Int32Array = Int32Array.from(oneByteKinds, (kind) => {
  if (kind === ImmediateKind.None) return sameDepth | 1;
  if (kind === ImmediateKind.Leb32 || kind === ImmediateKind.Leb64) return sameDepth | oneLeb | 2;
  if (kind === ImmediateKind.MemArg) return sameDepth | memArg | 3;
  if (kind === ImmediateKind.FourBytes) return sameDepth | 5;
  if (kind === ImmediateKind.EightBytes) return sameDepth | 9;
  if (kind === ImmediateKind.Block) return deeper | shortBlockType | 2;
  if (kind === ImmediateKind.End) return 1;
  if (kind === ImmediateKind.Branch) return sameDepth | branchBit | oneLeb | 2;
  return sameDepth | slowPathBit;
});
